/** The annotations of a chart as a list below it. They are written on the pages of the devices. */

import { AnnotationText, LeftOutAnnotations } from '../../charts/annotation-text.tsx'
import type { Times } from '../../theme/times.ts'
import type { LineAnnotations } from './use-line-annotations.ts'

export function AnnotationList({ annotations, times }: { annotations: LineAnnotations; times: Times }) {
  const { shown, total, hasNames, unread } = annotations
  if (shown.length === 0 && unread.length === 0) return null
  return (
    <section class="annotations" aria-labelledby="annotations">
      <h3 id="annotations">Annotations</h3>
      {unread.length === 0 ? null : <p class="none-here">The annotations of {unread.join(', ')} could not be read.</p>}
      <ul>
        {shown.map(annotation => (
          <li key={annotation.id}>
            <AnnotationText {...{ annotation, times, hasNames }} />
          </li>
        ))}
      </ul>
      <LeftOutAnnotations {...{ shown, total }} />
    </section>
  )
}
