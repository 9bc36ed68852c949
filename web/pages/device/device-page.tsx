/** One device: what it measures now, what it has measured, and what its readings say. */

import './device.css'
import type { PublicDevice } from '../../../api/read/device-shape.ts'
import type { LatestOfDevice } from '../../../live/fleet-shape.ts'
import type { PastDays as Past } from '../../../query/shapes/past.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { addressOf, urlArguments } from '../../client/address.ts'
import { lastValue, type ResourceState, worstState } from '../../client/resource-state.ts'
import { useKept } from '../../client/use-kept.ts'
import { useResource } from '../../client/use-resource.ts'
import { useTitle } from '../../client/use-title.ts'
import { PageFailure } from '../../parts/failure-banner.tsx'
import { MetricChooser } from '../../parts/metric-chooser.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { ZoneNote } from '../../parts/zone-note.tsx'
import { createTimes } from '../../text/times.ts'
import type { Detail } from './answers.ts'
import { Completeness } from './completeness.tsx'
import { KindsSection } from './kinds-section.tsx'
import { LiveReadings } from './live-readings.tsx'
import { Pairs } from './pairs.tsx'
import { PastDays } from './past-days.tsx'
import { pointsMax } from './range-plan.ts'
import { SeasonalitySection } from './seasonality.tsx'
import { askedMetrics } from './shown-metrics.ts'
import { useDeviceMetrics } from './use-device-metrics.ts'

const minuteMs = 60_000
const everyMinute = { everyMs: minuteMs }
const everyTwoMinutes = { everyMs: 2 * minuteMs }

export function DevicePage({ name }: { name: string }) {
  useTitle(name)
  const read = <T,>(path: string, rest: string, options = {}) =>
    useResource<T>(addressOf(`/api/${path}/${encodeURIComponent(name)}${rest}`), options)
  const about = read<PublicDevice>('device', '')
  const latest = read<LatestOfDevice>('latest', '', everyMinute)
  const latestValue = lastValue(latest)
  const chosen = urlArguments.value.get('metrics')
  // The analyses follow the last values, which tell whether there are so many metrics that only some are asked for.
  const asked = latest.kind === 'loading' ? undefined : (askedMetrics(latestValue, chosen) ?? '')
  const analyse = <T,>(path: string, rest: string[], options: object) => {
    const query = [...rest, ...(asked ? [`metrics=${asked}`] : [])].join('&')
    const url = `/api/${path}/${encodeURIComponent(name)}${query === '' ? '' : `?${query}`}`
    return useResource<T>(asked === undefined ? undefined : addressOf(url), options)
  }
  const detail = analyse<Detail>('detail_data', [`points=${pointsMax}`, 't=1', 'flags=1'], everyMinute)
  const stats = analyse<Stats>('stats_data', [], everyTwoMinutes)
  const past = analyse<Past>('past_window_data', [], everyTwoMinutes)
  const all = [about, latest, detail, stats, past]
  // Those of other metrics stay until the answers about the chosen ones are there.
  const detailValue = useKept(detail, name)
  const statsValue = useKept(stats, name)
  const pastValue = useKept(past, name)
  const device = useDeviceMetrics(
    { latest: latestValue, detail: detailValue, stats: statsValue, past: pastValue },
    chosen,
  )
  if (all.some(isUnknown)) return <UnknownDevice name={name} />
  const { quantities, names, shown, toRead } = device
  const timeZone = detailValue?.time_zone ?? statsValue?.time_zone ?? pastValue?.time_zone
  return (
    <>
      <Head name={name} latest={latestValue} description={lastValue(about)?.location_desc ?? ''} />
      {timeZone === undefined ? null : <ZoneNote serviceZone={timeZone} />}
      {timeZone === undefined ? (
        <>
          <PageFailure state={worstState(all)} timeText={createTimes('UTC').time} />
          <Loading all={all} />
        </>
      ) : (
        <LiveReadings
          device={name}
          timeZone={timeZone}
          states={all}
          latest={latestValue}
          detail={detailValue}
          stats={statsValue}
          past={pastValue}
          quantities={quantities}
          metrics={toRead}
        >
          <MetricChooser {...{ names, shown, quantities }} />
        </LiveReadings>
      )}
      {pastValue === undefined ? null : <PastDays past={pastValue} metrics={toRead} quantities={quantities} />}
      {statsValue === undefined ? null : (
        <>
          <Completeness stats={statsValue} />
          <KindsSection stats={statsValue} past={pastValue} metrics={toRead} quantities={quantities} />
          <SeasonalitySection stats={statsValue} metrics={toRead} quantities={quantities} />
          <Pairs stats={statsValue} metrics={toRead} quantities={quantities} />
        </>
      )}
    </>
  )
}

interface HeadProps {
  name: string
  latest: LatestOfDevice | undefined
  description: string
}

function Head({ name, latest, description }: HeadProps) {
  const place = [latest?.location_short ?? '', description].filter(text => text !== '' && text !== name)
  return (
    <div class="device-head">
      <h1>{name}</h1>
      {latest === undefined ? null : <StateBadge state={latest.state} />}
      {place.length === 0 ? null : <p class="place">{place.join(': ')}</p>}
    </div>
  )
}

/** Bars only while something may still come. */
function Loading({ all }: { all: readonly ResourceState<unknown>[] }) {
  return all.some(({ kind }) => kind === 'loading') ? <Skeleton name="The readings are loading" rows={8} /> : null
}

function UnknownDevice({ name }: { name: string }) {
  return (
    <>
      <h1>No such device</h1>
      <p>
        There is no device named <strong>{name}</strong> here, or it has been removed.{' '}
        <a href={addressOf('/')}>All devices</a>
      </p>
    </>
  )
}

/** Another 404 is that of a path. */
function isUnknown(state: ResourceState<unknown>): boolean {
  return state.kind === 'failed' && state.failure.kind === 'missing' && state.failure.sentence === 'device unknown'
}
