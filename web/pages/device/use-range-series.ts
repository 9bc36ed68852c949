/** The series of the range that is shown; while those of another one are on their way, the last ones stay. */

import { useMemo, useRef } from 'preact/hooks'
import type { RangeReadings } from '../../../api/read/readings-shape.ts'
import type { DailySummary } from '../../../query/shapes/daily.ts'
import type { ShownRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue, type ResourceState, worstState } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { useRested } from '../../client/use-rested.ts'
import type { Zone } from '../../text/zone.ts'
import type { Detail, LastValues } from './answers.ts'
import { withLastValues } from './chart-series.ts'
import type { Measured } from './measured.ts'
import { planOf } from './range-plan.ts'
import { type Part, rangeSeries } from './range-series.ts'
import type { LiveReading, RangeSeries } from './series.ts'
import type { ShownMetric } from './shown-metrics.ts'

interface RangeSeriesOptions {
  readonly of: Measured
  readonly shown: ShownRange
  readonly detail: Detail | undefined
  readonly live: readonly LiveReading[]
  /** At the time when the page was read. */
  readonly lastValues: LastValues | undefined
  readonly expectedSeconds: number | null
  readonly metrics: readonly ShownMetric[]
  readonly zone: Zone
}

export interface UsedSeries {
  /** The worst of the answers that a range needs besides those of the page; `loading` where nothing has failed. */
  readonly state: ResourceState<unknown>
  /** Undefined while there has been no answer. */
  readonly series: RangeSeries | undefined
}

const everyMs = 60_000

export function useRangeSeries(options: RangeSeriesOptions): UsedSeries {
  const { of, shown, detail, live, lastValues, expectedSeconds, metrics, zone } = options
  const { range, window, nowMs } = shown
  const plan = useMemo(
    () => planOf({ of, range, window, nowMs, expectedSeconds, metrics, described: detail?.metrics }),
    [of, range, window, nowMs, expectedSeconds, metrics, detail?.metrics],
  )
  const gauges = usePart<RangeReadings>(plan.gaugePath)
  const steps = usePart<RangeReadings>(plan.stepsPath)
  const states = usePart<RangeReadings>(plan.statesPath)
  const days = usePart<DailySummary>(plan.daysPath)
  const isLive = plan.gauges.kind === 'day' || plan.points.kind === 'points'
  const coming = useMemo(() => withLastValues(live, lastValues ?? {}, window), [live, lastValues, window])
  const series = useMemo(
    () =>
      rangeSeries({
        plan,
        detail,
        parts: { gauges: gauges.part, steps: steps.part, states: states.part, days: days.part },
        live: coming,
        metrics,
        window,
        zone,
      }),
    [plan, detail, gauges.part, steps.part, states.part, days.part, isLive ? coming : undefined, metrics, window, zone],
  )
  const last = useRef<RangeSeries | undefined>(undefined)
  if (series !== undefined) last.current = series
  return { state: worstState([gauges, steps, states, days].map(({ state }) => state)), series: series ?? last.current }
}

/** Of a path behind `/api/`. */
function usePart<Answer>(path: string | undefined): { state: ResourceState<Answer>; part: Part<Answer> } {
  const rested = useRested(path)
  const state = useResource<Answer>(rested === undefined ? undefined : addressOf(`/api/${rested}`), { everyMs })
  if (path === undefined) return { state, part: 'unneeded' }
  // While a range is moved, the answer is that of the range before.
  return { state, part: path === rested ? lastValue(state) : undefined }
}
