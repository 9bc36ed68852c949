/** The current values and the charts, which go on by themselves as readings come. */

import type { BuiltInMetric } from '../../../live/fleet-shape.ts'
import { builtInQuantities } from '../../text/quantities.ts'
import { useMemo } from 'preact/hooks'
import type { LatestOfDevice } from '../../../live/fleet-shape.ts'
import { useRange } from '../../charts/use-range.ts'
import { type ResourceState, worstState } from '../../client/resource-state.ts'
import { PageFailure } from '../../parts/failure-banner.tsx'
import { createTimes } from '../../text/times.ts'
import { createZone } from '../../text/zone.ts'
import type { Detail, LastValues } from './answers.ts'
import type { LiveReading } from './chart-series.ts'
import { Now } from './now.tsx'
import { Readings, readingPresets } from './readings.tsx'
import { suspectsIn } from './suspects.ts'
import { useLiveReadings } from './use-live-readings.ts'
import { useRangeSeries } from './use-range-series.ts'

export interface LiveReadingsProps {
  readonly device: string
  readonly timeZone: string
  /** Of all other answers of the page. */
  readonly states: readonly ResourceState<unknown>[]
  readonly latest: LatestOfDevice | undefined
  readonly detail: Detail | undefined
  readonly expectedSeconds: number | null
}

export function LiveReadings({ device, timeZone, states, latest, detail, expectedSeconds }: LiveReadingsProps) {
  const zone = useMemo(() => createZone(timeZone), [timeZone])
  const times = useMemo(() => createTimes(timeZone), [timeZone])
  const live = useLiveReadings(device)
  const shown = useRange(readingPresets)
  const { state, series } = useRangeSeries({ device, shown, detail, live, lastValues: latest?.values, expectedSeconds })
  const { window, nowMs } = shown
  const suspects = useMemo(() => suspectsIn(detail, window, nowMs), [detail, window, nowMs])
  const values = useMemo(() => lastValues(latest?.values ?? {}, live), [latest, live])
  return (
    <>
      <PageFailure state={worstState([...states, state])} timeText={times.time} />
      {latest === undefined ? null : <Now values={values} expectedSeconds={expectedSeconds} exact={times.exact} />}
      <Readings {...{ device, shown, data: series, suspects, zone, times }} />
    </>
  )
}

/** A reading has only some of the metrics, and may be older than what is known. */
function lastValues(known: LastValues, live: readonly LiveReading[]): LastValues {
  const values: LastValues = { ...known }
  for (const { ts, values: coming } of live) {
    for (const [metric, v] of Object.entries(coming) as [BuiltInMetric, number][]) {
      if (ts >= (values[metric]?.ts ?? 0)) values[metric] = { v, ts, unit: builtInQuantities.of(metric).unit }
    }
  }
  return values
}
