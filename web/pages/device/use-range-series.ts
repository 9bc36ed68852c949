/** The series of the range that is shown; while those of another one are on their way, the last ones stay. */

import { useMemo, useRef } from 'preact/hooks'
import type { RangeReadings } from '../../../api/read/readings-shape.ts'
import type { ShownRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import type { ResourceState } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { useRested } from '../../client/use-rested.ts'
import type { Detail, LastValues } from './answers.ts'
import {
  daySeries,
  type LiveReading,
  monthSeries,
  type RangeSeries,
  readingsQuery,
  readingsSeries,
  sourceOf,
  withLastValues,
} from './chart-series.ts'

interface RangeSeriesOptions {
  readonly device: string
  readonly shown: ShownRange
  readonly detail: Detail | undefined
  readonly live: readonly LiveReading[]
  /** At the time when the page was read. */
  readonly lastValues: LastValues | undefined
  readonly expectedSeconds: number | null
}

export interface UsedSeries {
  /** Of the readings of a range that no other answer has; `loading` for the other ranges. */
  readonly state: ResourceState<unknown>
  /** Undefined while there has been no answer. */
  readonly series: RangeSeries | undefined
}

const everyMs = 60_000

export function useRangeSeries({
  device,
  shown,
  detail,
  live,
  lastValues,
  expectedSeconds,
}: RangeSeriesOptions): UsedSeries {
  const { range, window } = shown
  const source = sourceOf(range, window, expectedSeconds)
  const path =
    source.kind === 'readings'
      ? `/api/readings/${encodeURIComponent(device)}?${readingsQuery(source.window, source.stepSeconds, 'json')}`
      : undefined
  const rested = useRested(path)
  // Of the rows that there are, which may be those of the last range.
  const stepSeconds = stepIn(rested)
  const url = rested === undefined ? undefined : addressOf(rested)
  const state = useResource<RangeReadings>(url, { everyMs })
  const rows = state.kind === 'ready' || state.kind === 'stale' ? state.value : undefined
  const gapSeconds = detail?.last_24h.gap_seconds ?? null
  const isLive = source.kind === 'day'
  const coming = useMemo(() => withLastValues(live, lastValues ?? {}, window), [live, lastValues, window])
  const series = useMemo(() => {
    if (source.kind === 'readings')
      return rows === undefined ? undefined : readingsSeries(rows, stepSeconds, gapSeconds)
    if (detail === undefined) return undefined
    return source.kind === 'day' ? daySeries(detail, coming) : monthSeries(detail)
  }, [source.kind, rows, stepSeconds, gapSeconds, detail, isLive ? coming : undefined])
  const last = useRef<RangeSeries | undefined>(undefined)
  if (series !== undefined) last.current = series
  return { state, series: series ?? last.current }
}

function stepIn(path: string | undefined): number | undefined {
  const step = new URLSearchParams(path?.split('?')[1]).get('step')
  return step === null ? undefined : Number(step)
}
