/** The current values and the charts, which go on by themselves as readings come. */

import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Forecast } from '../../../query/shapes/forecast.ts'
import type { NormalValues } from '../../../query/shapes/normal.ts'
import type { PastDays } from '../../../query/shapes/past.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import type { UnusualValues } from '../../../query/shapes/unusual.ts'
import { isPreset, type Range } from '../../charts/range.ts'
import { useRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import { openEvents } from '../../client/events.ts'
import { alertChanged } from '../../client/firing.ts'
import { lastValue, type ResourceState, worstState } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { PageFailure } from '../../parts/loading.tsx'
import { shownZone } from '../../text/preferences.ts'
import { type Descriptions, describedBy, inUnits, type Quantities } from '../../text/quantities.ts'
import { createTimes } from '../../text/times.ts'
import { createZone } from '../../text/zone.ts'
import { useAnnotations } from './annotations.tsx'
import type { Detail, LastValues, Latest, Measured } from './answers.ts'
import { DeviceAlerts, useDeviceAlerts } from './device-alerts.tsx'
import { Findings } from './findings.tsx'
import { type Expected, forecastsIn } from './forecast.ts'
import { Now } from './now.tsx'
import { freshMs, nowNotes } from './now-notes.ts'
import { Readings, readingPresets } from './readings.tsx'
import { type LiveReading, suspectsIn } from './series.ts'
import type { ShownMetric } from './shown-metrics.ts'
import { useRangeSeries } from './use-range-series.ts'
import { Why } from './why.tsx'

interface LiveReadingsProps {
  readonly of: Measured
  readonly timeZone: string
  /** The states of all other answers. */
  readonly states: readonly ResourceState<unknown>[]
  readonly latest: Latest | undefined
  readonly detail: Detail | undefined
  readonly stats: Stats | undefined
  readonly past: PastDays | undefined
  readonly normal: NormalValues | undefined
  /** The query of the forecast; undefined while unknown. */
  readonly forecastQuery: string | undefined
  readonly quantities: Quantities
  readonly metrics: readonly ShownMetric[]
  /** Shown above the charts. */
  readonly children?: ComponentChildren
}

export function LiveReadings(props: LiveReadingsProps) {
  const { of, timeZone, states, latest, detail, stats, past, normal, quantities, metrics, children } = props
  const zone = createZone(timeZone)
  const clock = shownZone(timeZone)
  const shownClock = createZone(clock)
  const times = createTimes(clock)
  const live = useLiveReadings(of)
  const shown = useRange(readingPresets)
  const expectedSeconds = stats?.freshness.expected_interval_seconds ?? null
  const lastKnown = latest?.values
  const ofRange = { of, shown, detail, live, lastValues: lastKnown, expectedSeconds, metrics, zone }
  const { state, series } = useRangeSeries(ofRange)
  const { window, nowMs } = shown
  const charted = useMemo(
    () => inUnits(describedBy(quantities, series?.described), series?.units),
    [quantities, series],
  )
  const alerts = useDeviceAlerts(of, window)
  const annotations = useAnnotations(of, window)
  /** Gauges whose unit in another answer equals the charts' unit. */
  const gaugesIn = (described: Descriptions | undefined) => {
    const there = describedBy(quantities, described)
    const isComparable = (name: string) => there.of(name).unit === charted.of(name).unit
    return metrics.filter(({ kind, name }) => kind === 'gauge' && isComparable(name)).map(({ name }) => name)
  }
  const suspects = useMemo(
    () => suspectsIn(detail, gaugesIn(detail?.metrics), window, nowMs),
    [detail, metrics, quantities, charted, window, nowMs],
  )
  // A silent device has no current value, so forecast and usual range are hidden.
  const isSilent = latest?.state === 'silent'
  const expected = useForecast(of, isSilent ? undefined : props.forecastQuery, shown.range)
  const forecasts = useMemo(
    () => forecastsIn(expected, gaugesIn((expected.forecast ?? expected.unusual)?.metrics), nowMs),
    [expected.forecast, expected.unusual, metrics, quantities, charted, nowMs],
  )
  const pace = stats && { ...stats.freshness, ...stats.reliability }
  const freshOf = (metric: string) => freshMs(metric, pace, detail)
  const ofLatest = useMemo(() => describedBy(quantities, latest?.metrics), [quantities, latest?.metrics])
  const values = useMemo(() => lastValues(lastKnown ?? {}, live, quantities), [lastKnown, live, quantities])
  const usual = isSilent ? undefined : normal
  const notes = useMemo(
    () => nowNotes({ values, live, lastKnown: lastKnown ?? {}, detail, stats, past, normal: usual, quantities, zone }),
    [values, live, lastKnown, detail, stats, past, usual, quantities, zone],
  )
  return (
    <>
      <PageFailure state={worstState([...states, state])} timeText={times.time} />
      {stats === undefined ? null : (
        <Findings {...{ stats, zone, times, nowMs }} quantities={describedBy(quantities, stats.metrics)} />
      )}
      {isSilent && of.kind === 'device' ? <Why device={of.name} {...{ values, times }} quantities={ofLatest} /> : null}
      {latest === undefined ? null : (
        <Now {...{ values, metrics, notes, freshMs: freshOf }} quantities={ofLatest} exact={times.exact} />
      )}
      {of.kind === 'device' ? <DeviceAlerts device={of.name} firing={alerts.firing} rules={alerts.rules} /> : null}
      <Readings
        {...{ of, shown, data: series, suspects, forecasts, annotations, times }}
        alerts={alerts.marks}
        quantities={charted}
        zone={shownClock}
      >
        {children}
      </Readings>
    </>
  )
}

/** Readings have only some metrics, and may be older than the known values. */
function lastValues(known: LastValues, live: readonly LiveReading[], quantities: Quantities): LastValues {
  const values: LastValues = { ...known }
  for (const { ts, values: coming } of live) {
    for (const [metric, v] of Object.entries(coming)) {
      if (ts >= (values[metric]?.ts ?? 0)) values[metric] = { v, ts, unit: quantities.of(metric).unit }
    }
  }
  return values
}

/** It is another one each hour. */
const everyTenMinutes = { everyMs: 600_000 }

/** `query`: which metrics; undefined while that is not known. Neither is a part that the page would lack. */
function useForecast(of: Measured, query: string | undefined, range: Range): Expected {
  const isShown = query !== undefined && isPreset(range) && range.preset === '24h'
  const read = <Answer,>(analysis: string) => {
    const path = isShown ? addressOf(`/api/${of.pathOf(analysis, query)}`) : undefined
    const state = useResource<Answer>(path, everyTenMinutes)
    return isShown ? lastValue(state) : undefined
  }
  return { forecast: read<Forecast>('forecast'), unusual: read<UnusualValues>('unusual') }
}

/** A reading per second reaches the limit after more than an hour. The next answer has the older ones. */
const readingsMax = 5_000

/** Readings missed while the page was hidden or offline come with the answers that are read each minute. */
function useLiveReadings({ kind, name }: Measured): readonly LiveReading[] {
  const [readings, setReadings] = useState<readonly LiveReading[]>([])
  useEffect(() => {
    if (kind === 'station') return undefined
    const take = (reading: LiveReading) => setReadings(before => [...before.slice(1 - readingsMax), reading])
    return openEvents(addressOf(`/api/events?device=${encodeURIComponent(name)}`), {
      on: { reading: take, alert: alertChanged },
      onLive: () => {},
      onGap: () => {},
    })
  }, [kind, name])
  return readings
}
