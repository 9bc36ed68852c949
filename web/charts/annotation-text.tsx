/** An annotation in a list below charts. */

import type { ComponentChildren } from 'preact'
import { countText } from '../../analytics/findings/value-words.ts'
import type { Annotation } from '../../auth/annotations/annotation.ts'
import type { Times } from '../theme/times.ts'
import { whenText } from './annotation-marks.ts'

export interface AnnotationTextProps {
  readonly annotation: Annotation
  readonly times: Times
  /** True if the charts show several devices: each annotation names its device. */
  readonly hasNames?: boolean
  /** Its buttons. */
  readonly children?: ComponentChildren
}

export function AnnotationText({ annotation, times, hasNames = false, children }: AnnotationTextProps) {
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

/** A note where the range has more annotations than are shown. */
export function LeftOutAnnotations({ shown, total }: { shown: readonly Annotation[]; total: number }) {
  if (shown.length === total) return null
  return (
    <p class="none-here">
      The newest {countText(shown.length)} of {countText(total)} annotations in this range are shown. A shorter range
      shows others.
    </p>
  )
}
