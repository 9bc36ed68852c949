/** The annotations of a device within a range, and whether the visitor may write some. */

import { useMemo } from 'preact/hooks'
import type { Annotation, DeviceAnnotations } from '../../../annotations/annotation.ts'
import type { TimeWindow } from '../../charts/range.ts'
import { addressOf } from '../../client/address.ts'
import { useKept } from '../../client/use-kept.ts'
import { useRefreshed } from '../../client/use-resource.ts'
import { annotationsIn } from './annotation-marks.ts'
import type { Measured } from './measured.ts'

const everyMs = 60_000

export interface KnownAnnotations {
  /** Within the range, ascending. */
  readonly shown: readonly Annotation[]
  readonly mayAnnotate: boolean
  readonly mayAnnotateAll: boolean
  /** Reads them again, after a change. */
  refresh(): void
}

/** All of them at once: the range moves on with the minute, and is zoomed. None of a station. */
export function useAnnotations({ kind, name }: Measured, window: TimeWindow): KnownAnnotations {
  const url = kind === 'device' ? addressOf(`/api/device/${encodeURIComponent(name)}/annotations`) : undefined
  const { state, refresh } = useRefreshed<DeviceAnnotations>(url, { everyMs })
  const known = useKept(state, name)
  const shown = useMemo(() => annotationsIn(known?.annotations ?? [], window), [known, window])
  return {
    shown,
    mayAnnotate: known?.may_annotate ?? false,
    mayAnnotateAll: known?.may_annotate_all ?? false,
    refresh,
  }
}
