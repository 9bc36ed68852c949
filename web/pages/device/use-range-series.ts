/** The series of the shown range. While another range loads, the last series stay. */

import { useMemo, useRef } from 'preact/hooks'
import type { DailySummary } from '../../../query/shapes/daily.ts'
import type { ShownRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import { type ReadReadings, readReadings } from '../../client/read-json.ts'
import type { ResourceOptions } from '../../client/resource.ts'
import { lastValue, type ResourceState, worstState } from '../../client/resource-state.ts'
import { useResource, useRested } from '../../client/use-resource.ts'
import type { Zone } from '../../text/zone.ts'
import type { Detail, LastValues, Measured } from './answers.ts'
import { planOf } from './range-plan.ts'
import { type Part, rangeSeries } from './range-series.ts'
import { type LiveReading, type RangeSeries, withLastValues } from './series.ts'
import type { ShownMetric } from './shown-metrics.ts'

interface RangeSeriesOptions {
  readonly of: Measured
  readonly shown: ShownRange
  readonly detail: Detail | undefined
  readonly live: readonly LiveReading[]
  /** The values at the page's read. */
  readonly lastValues: LastValues | undefined
  readonly expectedSeconds: number | null
  readonly metrics: readonly ShownMetric[]
  readonly zone: Zone
}

export interface UsedSeries {
  /** The worst state of the answers that only the range needs; `loading` where none has failed. */
  readonly state: ResourceState<unknown>
  /** Undefined while there has been no answer. */
  readonly series: RangeSeries | undefined
}

const everyMs = 60_000
const ofReadings = { everyMs, read: readReadings }

export function useRangeSeries(options: RangeSeriesOptions): UsedSeries {
  const { of, shown, detail, live, lastValues, expectedSeconds, metrics, zone } = options
  const { range, window, nowMs } = shown
  const plan = useMemo(
    () => planOf({ of, range, window, nowMs, expectedSeconds, metrics, described: detail?.metrics }),
    [of, range, window, nowMs, expectedSeconds, metrics, detail?.metrics],
  )
  const gauges = usePart(plan.gaugePath, ofReadings)
  const steps = usePart(plan.stepsPath, ofReadings)
  const states = usePart(plan.statesPath, ofReadings)
  const days = usePart<DailySummary>(plan.daysPath, { everyMs })
  const isLive = plan.gauges.kind === 'day' || plan.points.kind === 'points'
  const coming = useMemo(() => {
    return withLastValues(live, inUnitsOf(lastValues ?? {}, detail?.metrics), window)
  }, [live, lastValues, detail?.metrics, window])
  const series = useMemo(
    () =>
      rangeSeries({
        plan,
        detail,
        parts: {
          gauges: rowsOf(gauges.part),
          steps: rowsOf(steps.part),
          states: rowsOf(states.part),
          days: days.part,
        },
        units: Object.assign({}, ...[gauges.part, steps.part, states.part].map(unitsOf)),
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

/** Leaves out values in another unit than the other answer's: a station may change it between two reads. */
function inUnitsOf(values: LastValues, described: Detail['metrics'] = {}): LastValues {
  const isSame = ([metric, { unit }]: [string, LastValues[string]]) => (described[metric]?.unit ?? unit) === unit
  return Object.fromEntries(Object.entries(values).filter(isSame))
}

function rowsOf(part: Part<ReadReadings>): Part<ReadReadings['rows']> {
  return part === undefined || part === 'unneeded' ? part : part.rows
}

function unitsOf(part: Part<ReadReadings>): ReadReadings['units'] {
  return part === undefined || part === 'unneeded' ? {} : part.units
}

/** Reads a path behind `/api/`. */
function usePart<Answer>(
  path: string | undefined,
  options: ResourceOptions<Answer>,
): { state: ResourceState<Answer>; part: Part<Answer> } {
  const rested = useRested(path)
  const state = useResource<Answer>(rested === undefined ? undefined : addressOf(`/api/${rested}`), options)
  if (path === undefined) return { state, part: 'unneeded' }
  // While a range is moved, the answer belongs to the range before.
  return { state, part: path === rested ? lastValue(state) : undefined }
}
