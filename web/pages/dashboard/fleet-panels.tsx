/** Panels about the fleet: a list, a map and findings. */

import { useMemo } from 'preact/hooks'
import type { Fleet, FleetDevice } from '../../../query/live/fleet-shape.ts'
import type { Insights as InsightsAnswer } from '../../../query/shapes/insights.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { addressOf } from '../../client/address.ts'
import { serverNowMs } from '../../client/clock.ts'
import { lastValue, type ResourceState } from '../../client/resource-state.ts'
import { devicePath } from '../../client/routes.ts'
import { useResource, useResources } from '../../client/use-resource.ts'
import { lazy, Skeleton } from '../../parts/loading.tsx'
import { FiringMark, SeverityBadge, StateBadge } from '../../parts/marks.tsx'
import { findingSentence, pageWords } from '../../text/finding-words.ts'
import { kindText } from '../../text/kind-words.ts'
import { builtInQuantities, type Quantities, quantitiesOf } from '../../text/quantities.ts'
import { ageText } from '../../text/times.ts'
import { createZone } from '../../text/zone.ts'
import { countText, t, tp } from '../../words/words.ts'
import { mapArguments } from '../fleet/fleet-view.ts'
import { Insights } from '../fleet/insights.tsx'
import { failureText } from './device-panels.tsx'
import type { PanelContext, PanelProps } from './panel-context.ts'

const FleetMap = lazy(t('map'), () => import('../../map/fleet-map.tsx').then(module => module.FleetMap))

const listEveryMs = 10_000
/** The service computes them at this interval. */
const insightsEveryMs = 600_000
const rowsMax = 100

function selectionOf({ tags, search }: PanelProps['panel']): string {
  return mapArguments({ search, states: [] }, tags)
}

export function MapPanel({ panel, context }: PanelProps) {
  return (
    <div class="dash-map" style={{ zoom: String(context.scale) }}>
      <FleetMap filter={selectionOf(panel)} changes="" isStill={true} />
    </div>
  )
}

export function ListPanel({ panel, context }: PanelProps) {
  const url = addressOf(`/api/fleet?limit=${rowsMax}${selectionOf(panel)}`)
  const state = useResource<Fleet>(url, { everyMs: listEveryMs })
  const fleet = lastValue(state)
  if (fleet === undefined) return <Absent state={state} name={t('The list')} />
  if (fleet.devices.length === 0) return <p class="dash-none">{t('No device matches.')}</p>
  const quantities = quantitiesOf(fleet.metrics)
  return (
    <>
      <ul class="dash-list">
        {fleet.devices.map(device => (
          <Row key={device.device} {...{ device, context, quantities }} />
        ))}
      </ul>
      {fleet.next === null ? null : (
        <p class="dash-note">{t('The first {count}, worst first.', { count: countText(fleet.devices.length) })}</p>
      )}
    </>
  )
}

/** More values do not fit in a line. */
const valuesShown = 2

function Row({
  device: listed,
  context,
  quantities,
}: {
  device: FleetDevice
  context: PanelContext
  quantities: Quantities
}) {
  const live = context.live.get(listed.device)
  const name = listed.device
  const lastSeen = Math.max(listed.last_seen ?? 0, live?.lastSeen ?? 0)
  const values = Object.entries(listed.values).slice(0, valuesShown)
  return (
    <li>
      <StateBadge state={live?.state ?? listed.state} />
      <span class="dash-device">
        <a href={addressOf(devicePath(name))}>{name}</a>
        <FiringMark device={name} />
        {listed.location_short === '' ? null : <span class="place">{listed.location_short}</span>}
      </span>
      <span class="dash-numbers">
        {values
          .map(([metric, value]) => kindText(live?.values[metric]?.v ?? (value as number), quantities.of(metric)))
          .join(' · ')}
      </span>
      <span class="dash-age">{lastSeen === 0 ? t('no reading yet') : ageText(serverNowMs.value - lastSeen)}</span>
    </li>
  )
}

function Absent({ state, name }: { state: ResourceState<unknown>; name: string }) {
  if (state.kind === 'failed') return <p class="dash-none">{failureText(state, name)}</p>
  return <Skeleton name={t('{name} is loading', { name })} rows={4} />
}

export function FindingsPanel(props: PanelProps) {
  return props.panel.devices.length === 0 ? <FleetFindings {...props} /> : <DeviceFindings {...props} />
}

function FleetFindings({ context: { times, zone } }: PanelProps) {
  const state = useResource<InsightsAnswer>(addressOf('/api/fleet/insights'), { everyMs: insightsEveryMs })
  if (lastValue(state) === undefined) return <Absent state={state} name={t('The list of findings')} />
  return <Insights {...{ state, times, zone }} quantities={builtInQuantities} />
}

const statsEveryMs = 120_000

function DeviceFindings({ panel: { devices }, context: { times } }: PanelProps) {
  const urls = devices.map(device => addressOf(`/api/stats_data/${encodeURIComponent(device)}`))
  const answers = useResources<Stats>(urls, { everyMs: statsEveryMs })
  return (
    <ul class="dash-findings">
      {devices.map((device, place) => {
        const state = answers[place] ?? { kind: 'loading' }
        const stats = lastValue(state)
        if (stats === undefined) {
          return (
            <li key={device}>
              <Absent state={state} name={device} />
            </li>
          )
        }
        return <OfDevice key={device} {...{ device, stats, times }} />
      })}
    </ul>
  )
}

function OfDevice({ device, stats, times }: { device: string; stats: Stats; times: PanelContext['times'] }) {
  const zone = useMemo(() => createZone(stats.time_zone), [stats.time_zone])
  const words = pageWords(quantitiesOf(stats.metrics), times, serverNowMs.value)
  const link = <a href={addressOf(devicePath(device))}>{device}</a>
  if (stats.findings.length === 0) return <li>{tp('{link}: nothing looks wrong.', { link })}</li>
  return (
    <>
      {stats.findings.map(finding => (
        <li key={`${finding.code} ${finding.metric} ${finding.since}`}>
          <SeverityBadge severity={finding.severity} /> {link} {findingSentence(finding, words, zone)}
        </li>
      ))}
    </>
  )
}
