/** Annotations of the lines' devices within the shown range. */

import type { TimeWindow } from '../../charts/range.ts'
import { type AnnotationsOf, useAnnotationsOf } from '../../charts/use-annotations-of.ts'
import type { DrawnLine } from './line-panels.ts'

export interface LineAnnotations extends Pick<AnnotationsOf, 'shown' | 'total' | 'unread'> {
  /** True if the lines belong to several devices. */
  readonly hasNames: boolean
}

export function useLineAnnotations(drawn: readonly DrawnLine[], window: TimeWindow): LineAnnotations {
  const devices = [...new Set(drawn.map(({ device }) => device))]
  const { shown, total, unread } = useAnnotationsOf(devices, window)
  return { shown, total, hasNames: devices.length > 1, unread }
}
