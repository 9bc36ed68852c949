/** What people have written about the devices of the lines, within the range that is shown. */

import { useMemo } from 'preact/hooks'
import type { Annotation } from '../../../annotations/annotation.ts'
import type { TimeWindow } from '../../charts/range.ts'
import { useAnnotationsOf } from '../../charts/use-annotations-of.ts'
import { annotationsMax } from './annotated-panels.ts'
import type { DrawnLine } from './line-panels.ts'

export interface LineAnnotations {
  /** Ascending; of more than `annotationsMax` the newest. */
  readonly shown: readonly Annotation[]
  /** How many there are. */
  readonly total: number
  /** Whether the lines are of several devices. */
  readonly hasNames: boolean
  /** The devices of which they could not be read. */
  readonly unread: readonly string[]
}

export function useLineAnnotations(drawn: readonly DrawnLine[], window: TimeWindow): LineAnnotations {
  const devices = [...new Set(drawn.map(({ device }) => device))]
  const { shown, unread } = useAnnotationsOf(devices, window)
  const newest = useMemo(() => shown.slice(-annotationsMax), [shown])
  return { shown: newest, total: shown.length, hasNames: devices.length > 1, unread }
}
