/** Current values, charts and analyses of a device or a station. */

import './device.css'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { NormalValues } from '../../../query/shapes/normal.ts'
import type { PastDays as Past } from '../../../query/shapes/past.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { addressOf, urlArguments } from '../../client/address.ts'
import { lastValue, type ResourceState, worstState } from '../../client/resource-state.ts'
import { useKept, useResource } from '../../client/use-resource.ts'
import { MetricChooser } from '../../parts/fields.tsx'
import { PageFailure, Skeleton } from '../../parts/loading.tsx'
import { ZoneNote } from '../../parts/notes.tsx'
import {
  chooseMetrics,
  type Descriptions,
  describedBy,
  type Quantities,
  quantitiesOf,
  withNumbered,
} from '../../text/quantities.ts'
import { createTimes } from '../../text/times.ts'
import { t } from '../../words/words.ts'
import { Analyses, useAnalysed } from './analyses.tsx'
import type { Detail, Latest, Measured } from './answers.ts'
import { Completeness } from './completeness.tsx'
import { LiveReadings } from './live-readings.tsx'
import { PastDays } from './past-days.tsx'
import { pointsMax } from './range-plan.ts'
import { askedMetrics, metricsOfDevice, metricsToRead, numberedStates, type ShownMetric } from './shown-metrics.ts'

const minuteMs = 60_000
const everyMinute = { everyMs: minuteMs }
const everyTwoMinutes = { everyMs: 2 * minuteMs }

interface MeasuredPageProps<Now extends Latest> {
  /** The same while the page is about the same. */
  readonly of: Measured
  /** The states of other reads. */
  readonly others: readonly ResourceState<unknown>[]
  /** Called with `latest` once it has arrived. */
  head(latest: Now | undefined): ComponentChildren
  /** Rendered where the service does not know the name. */
  unknown(): ComponentChildren
  aboveCharts?(quantities: Quantities): ComponentChildren
}

export function MeasuredPage<Now extends Latest>(props: MeasuredPageProps<Now>) {
  const { of, others, head, unknown, aboveCharts } = props
  const latest = useResource<Now>(addressOf(`/api/${of.pathOf('latest')}`), everyMinute)
  const latestValue = lastValue(latest)
  const chosen = urlArguments.value.get('metrics')
  // The analyses wait for the last values, which show how many metrics exist.
  const asked = latest.kind === 'loading' ? undefined : (askedMetrics(latestValue, chosen) ?? '')
  const named = asked ? [`metrics=${asked}`] : []
  const analyse = <T,>(analysis: string, rest: string[], options: object) => {
    const query = [...rest, ...named].join('&')
    return useResource<T>(asked === undefined ? undefined : addressOf(`/api/${of.pathOf(analysis, query)}`), options)
  }
  const detail = analyse<Detail>('detail_data', [`points=${pointsMax}`, 't=1', 'flags=1'], everyMinute)
  const stats = analyse<Stats>('stats_data', [], everyTwoMinutes)
  const past = analyse<Past>('past_window_data', [], everyTwoMinutes)
  // A failure of this read is not shown, as it only adds notes to values.
  const normal = lastValue(analyse<NormalValues>('normal', [], everyTwoMinutes))
  // The last metrics stay until the answers for the chosen ones arrive.
  const detailValue = useKept(detail, of.name)
  const statsValue = useKept(stats, of.name)
  const pastValue = useKept(past, of.name)
  const { states, analysed } = useAnalysed(of, asked === undefined ? undefined : named, statsValue, 2 * minuteMs)
  const all = [...others, latest, detail, stats, past, ...states]
  const measured = useDeviceMetrics(
    of,
    { latest: latestValue, detail: detailValue, stats: statsValue, past: pastValue },
    chosen,
  )
  if (all.some(state => isUnknown(state, of))) return <>{unknown()}</>
  const { quantities, names, shown, toRead } = measured
  // A station may change the unit of a parameter between two answers, which then are in different ones.
  const ofPast = describedBy(quantities, pastValue?.metrics)
  const timeZone = detailValue?.time_zone ?? statsValue?.time_zone ?? pastValue?.time_zone
  return (
    <>
      {head(latestValue)}
      {timeZone === undefined ? (
        <>
          <PageFailure state={worstState(all)} timeText={createTimes('UTC').time} />
          <Loading all={all} />
        </>
      ) : (
        <>
          <ZoneNote zone={timeZone} of={of.kind === 'device' ? 'service' : 'station'} />
          <LiveReadings
            of={of}
            timeZone={timeZone}
            states={all}
            latest={latestValue}
            detail={detailValue}
            stats={statsValue}
            past={pastValue}
            normal={normal}
            forecastQuery={asked === undefined ? undefined : named.join()}
            quantities={quantities}
            metrics={toRead}
          >
            <MetricChooser {...{ names, shown, quantities }} />
            {aboveCharts?.(quantities)}
          </LiveReadings>
        </>
      )}
      {pastValue === undefined ? null : <PastDays past={pastValue} metrics={toRead} quantities={ofPast} />}
      {statsValue === undefined ? null : <Completeness stats={statsValue} />}
      {analysed === undefined ? null : (
        <Analyses
          {...{ of, named, ...analysed }}
          past={pastValue}
          metrics={toRead}
          quantities={describedBy(quantities, analysed.stats.metrics)}
        />
      )}
    </>
  )
}

/** Bars only while something may still come. */
function Loading({ all }: { all: readonly ResourceState<unknown>[] }) {
  return all.some(({ kind }) => kind === 'loading') ? <Skeleton name={t('The readings are loading')} rows={8} /> : null
}

/** A 404 with another code concerns the path. */
function isUnknown(state: ResourceState<unknown>, { kind }: Measured): boolean {
  return state.kind === 'failed' && state.failure.kind === 'missing' && state.failure.sentence === `${kind} unknown`
}

interface Answers {
  readonly latest: Latest | undefined
  readonly detail: Detail | undefined
  readonly stats: Stats | undefined
  readonly past: Past | undefined
}

interface DeviceMetrics {
  readonly quantities: Quantities
  /** All, in the order in which they are shown. */
  readonly names: readonly string[]
  readonly shown: readonly string[]
  readonly toRead: readonly ShownMetric[]
}

function useDeviceMetrics(
  of: Measured,
  { latest, detail, stats, past }: Answers,
  chosen: string | null,
): DeviceMetrics {
  const described: Descriptions = { ...past?.metrics, ...stats?.metrics, ...latest?.metrics, ...detail?.metrics }
  const values = latest?.values ?? {}
  const names = metricsOfDevice(values, detail, described)
  const numbered = numberedStates({ values, detail, stats }, described)
  // Answers arrive each minute and mostly have the same metrics, so that the charts keep their objects.
  const same = JSON.stringify([described, names, numbered])
  return useMemo(() => {
    const quantities = withNumbered(quantitiesOf(described), numbered)
    const shown = chooseMetrics(names, chosen)
    return { quantities, names, shown, toRead: metricsToRead(of, names, shown, quantities) }
  }, [of, same, chosen])
}
