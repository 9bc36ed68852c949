/** An annotation in a list below charts. */

import type { ComponentChildren } from 'preact'
import type { Annotation } from '../../auth/annotations/annotation.ts'
import { countText } from '../text/numbers.ts'
import type { Times } from '../theme/times.ts'
import { whenText } from './annotation-marks.ts'

export interface ToldAnnotationProps {
  readonly annotation: Annotation
  readonly times: Times
  /** Whether the charts are of several devices, so that each has to be named. */
  readonly hasNames?: boolean
  /** What can be done with it. */
  readonly children?: ComponentChildren
}

export function ToldAnnotation({ annotation, times, hasNames = false, children }: ToldAnnotationProps) {
  const { device, text, by } = annotation
  const about = device === null ? ['about all devices'] : hasNames ? [`about ${device}`] : []
  const author = by === null ? [] : [`by ${by}`]
  return (
    <>
      <span class="when">{whenText(annotation, times)}</span> <strong>{text}</strong>{' '}
      <span class="who">{[...about, ...author].join(', ')}</span> {children}
    </>
  )
}

/** Where a range has more than are shown. */
export function LeftOutAnnotations({ shown, total }: { shown: readonly Annotation[]; total: number }) {
  if (shown.length === total) return null
  return (
    <p class="none-here">
      The newest {countText(shown.length)} of {countText(total)} annotations in this range are shown. A shorter range
      shows others.
    </p>
  )
}
