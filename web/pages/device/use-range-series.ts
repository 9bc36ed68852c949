/** The series of the range that is shown; while those of another one are on their way, the last ones stay. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { addressOf } from '../../client/address.ts'
import { useResource } from '../../client/use-resource.ts'
import type { Detail } from './answers.ts'
import {
  daySeries,
  type LiveReading,
  monthSeries,
  type RangeSeries,
  type ReadingRow,
  readingsQuery,
  readingsSeries,
  sourceOf,
} from './chart-series.ts'
import type { ShownRange } from './use-range.ts'

interface RangeSeriesOptions {
  readonly device: string
  readonly shown: ShownRange
  readonly detail: Detail | undefined
  readonly live: readonly LiveReading[]
  readonly expectedSeconds: number | null
}

/** A gesture asks for many ranges in a row; the last of them is read. */
const restMs = 250
const everyMs = 60_000

export function useRangeSeries({
  device,
  shown,
  detail,
  live,
  expectedSeconds,
}: RangeSeriesOptions): RangeSeries | undefined {
  const { range, window } = shown
  const source = sourceOf(range, window, expectedSeconds)
  const stepSeconds = source.kind === 'readings' ? source.stepSeconds : undefined
  const path =
    source.kind === 'readings'
      ? `/api/readings/${encodeURIComponent(device)}?${readingsQuery(source.window, stepSeconds, 'json')}`
      : undefined
  const state = useResource<readonly ReadingRow[]>(useRested(path === undefined ? undefined : addressOf(path)), {
    everyMs,
  })
  const rows = state.kind === 'ready' || state.kind === 'stale' ? state.value : undefined
  const gapSeconds = detail?.last_24h.gap_seconds ?? null
  const isLive = source.kind === 'day'
  const series = useMemo(() => {
    if (source.kind === 'readings')
      return rows === undefined ? undefined : readingsSeries(rows, stepSeconds, gapSeconds)
    if (detail === undefined) return undefined
    return source.kind === 'day' ? daySeries(detail, live) : monthSeries(detail)
  }, [source.kind, rows, stepSeconds, gapSeconds, detail, isLive ? live : undefined])
  const last = useRef<RangeSeries | undefined>(undefined)
  if (series !== undefined) last.current = series
  return series ?? last.current
}

/** A text once it has not changed for a moment; undefined at once. */
function useRested(text: string | undefined): string | undefined {
  const [rested, setRested] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs)
    return () => clearTimeout(timer)
  }, [text])
  return text === undefined ? undefined : rested
}
