/** The annotations of a device within a range, and whether the visitor may write some. */

import type { TimeWindow } from '../../charts/range.ts'
import { type AnnotationsOf, useAnnotationsOf } from '../../charts/use-annotations-of.ts'
import type { Measured } from './measured.ts'

export interface KnownAnnotations extends Pick<AnnotationsOf, 'shown' | 'total' | 'refresh'> {
  readonly mayAnnotate: boolean
  readonly mayAnnotateAll: boolean
}

/** Empty for a station. */
export function useAnnotations({ kind, name }: Measured, window: TimeWindow): KnownAnnotations {
  const { shown, total, answers, refresh } = useAnnotationsOf(kind === 'device' ? [name] : [], window)
  const [known] = answers
  return {
    shown,
    total,
    mayAnnotate: known?.may_annotate ?? false,
    mayAnnotateAll: known?.may_annotate_all ?? false,
    refresh,
  }
}
