/** The newest annotations within the range of a wall's chart, since a wall has no cursor. */

import { countText } from '../../analytics/findings/value-words.ts'
import { AnnotationText } from '../charts/annotation-text.tsx'
import type { LineAnnotations } from '../pages/charts/use-line-annotations.ts'
import type { Times } from '../theme/times.ts'

const shownMax = 3

export function WallAnnotations({ annotations, times }: { annotations: LineAnnotations; times: Times }) {
  const { shown, total, hasNames, unread } = annotations
  if (shown.length === 0 && unread.length === 0) return null
  const newest = shown.slice(-shownMax).reverse()
  return (
    <section class="wall-annotations annotations" aria-label="Annotations">
      <ul>
        {newest.map(annotation => (
          <li key={annotation.id}>
            <AnnotationText {...{ annotation, times, hasNames }} />
          </li>
        ))}
      </ul>
      {total === newest.length ? null : (
        <p class="who">
          The newest {countText(newest.length)} of {countText(total)} annotations in this range
          {total === shown.length ? null : `; the chart has the newest ${countText(shown.length)}`}.
        </p>
      )}
      {unread.length === 0 ? null : <p class="who">The annotations of {unread.join(', ')} could not be read.</p>}
    </section>
  )
}
