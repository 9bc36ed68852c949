/** What people have written within the range of a chart on a wall: the newest, as nobody moves a cursor there. */

import { ToldAnnotation } from '../charts/told-annotation.tsx'
import type { LineAnnotations } from '../pages/charts/use-line-annotations.ts'
import { countText } from '../text/numbers.ts'
import type { Times } from '../theme/times.ts'

const toldMax = 3

export function WallAnnotations({ annotations, times }: { annotations: LineAnnotations; times: Times }) {
  const { shown, total, hasNames, unread } = annotations
  if (shown.length === 0 && unread.length === 0) return null
  const told = shown.slice(-toldMax).reverse()
  return (
    <section class="wall-annotations annotations" aria-label="Annotations">
      <ul>
        {told.map(annotation => (
          <li key={annotation.id}>
            <ToldAnnotation {...{ annotation, times, hasNames }} />
          </li>
        ))}
      </ul>
      {total === told.length ? null : (
        <p class="who">
          The newest {countText(told.length)} of {countText(total)} annotations in this range
          {total === shown.length ? null : `; the chart has the newest ${countText(shown.length)}`}.
        </p>
      )}
      {unread.length === 0 ? null : <p class="who">The annotations of {unread.join(', ')} could not be read.</p>}
    </section>
  )
}
