/** Panels of named devices: lines, bars, states over time and last values. */

import { useMemo, useState } from 'preact/hooks'
import type { Panel } from '../../../auth/views/panel.ts'
import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import { ChartStack } from '../../charts/chart-stack.tsx'
import { type TimeWindow, windowOf } from '../../charts/range.ts'
import { minute, type ShownRange } from '../../charts/use-range.ts'
import { addressOf } from '../../client/address.ts'
import { serverNowMs } from '../../client/clock.ts'
import { lastValue, type ResourceState } from '../../client/resource-state.ts'
import { devicePath } from '../../client/routes.ts'
import { useResource, useResources } from '../../client/use-resource.ts'
import { Skeleton } from '../../parts/loading.tsx'
import { StateBadge } from '../../parts/marks.tsx'
import { kindText } from '../../text/kind-words.ts'
import { describedBy, inUnits, nameWithin, quantitiesOf } from '../../text/quantities.ts'
import { ageText } from '../../text/times.ts'
import { createZone } from '../../text/zone.ts'
import { t } from '../../words/words.ts'
import type { ChosenLine } from '../charts/chosen-lines.ts'
import { linePanels, sharedHeight } from '../charts/line-panels.ts'
import { useLines } from '../charts/use-lines.ts'
import { type Detail, type Measured, measuredDevice } from '../device/answers.ts'
import { panelOf } from '../device/panels.ts'
import { useRangeSeries } from '../device/use-range-series.ts'
import { type PanelContext, type PanelProps, titleOf } from './panel-context.ts'
import { withLive } from './use-live.ts'

export function latestAddress(device: string): string {
  return addressOf(`/api/latest/${encodeURIComponent(device)}`)
}

function linesOf({ devices, metrics }: Panel): ChosenLine[] {
  return devices.flatMap(device => metrics.map(metric => ({ device, metric })))
}

/** A panel without a value says why, and the others go on. */
function Missing({ state, name }: { state: ResourceState<unknown>; name: string }) {
  if (state.kind === 'loading') return <Skeleton name={t('{name} is loading', { name })} rows={2} />
  if (state.kind === 'failed') return <p class="dash-none">{failureText(state, name)}</p>
  return <p class="dash-none">{t('{name} has no such values in this range.', { name })}</p>
}

export function failureText({ failure }: Extract<ResourceState<unknown>, { kind: 'failed' }>, name: string): string {
  if (failure.kind === 'missing') return t('{name}: there is no such device.', { name })
  if (failure.kind === 'signed-out') return t('Sign in to see this.')
  if (failure.kind === 'unreachable') return t('The service does not answer. The page goes on asking.')
  if (failure.kind === 'refused' && failure.status === 403) return t('You may not see {name}.', { name })
  return t('{name} cannot be shown ({sentence}).', { name, sentence: failure.sentence })
}

/** A zoom of a chart stays until it is reset. */
function usePanelRange(preset: Panel['range']): ShownRange {
  const [zoomed, zoomTo] = useState<TimeWindow>()
  const nowMs = minute.value
  return useMemo(() => {
    const range = zoomed ?? { preset }
    return { range, window: windowOf(range, nowMs), nowMs, choose: () => zoomTo(undefined), zoomTo }
  }, [preset, zoomed, nowMs])
}

export function LinePanel({ panel, context, size }: PanelProps) {
  const { zone, times, scale, everyMs } = context
  const lines = linesOf(panel)
  const shown = usePanelRange(panel.range)
  const { drawn, missing, isLoading, state, stepMs } = useLines(lines, shown.window, everyMs)
  const made = useMemo(
    () =>
      linePanels(
        drawn.filter(({ values }) => values.length > 0),
        stepMs,
      ),
    [drawn, stepMs],
  )
  const lacking = [...new Set(missing.map(({ device }) => device))].join(', ')
  const legendHeight = 21 * (Math.ceil((lines.length * 200) / size.width) - 1)
  const height = size.height - legendHeight - (lacking === '' ? 0 : 24)
  const panels = useMemo(() => sharedHeight(made, height, scale), [made, height, scale])
  // One line after the other would move the chart.
  const isPart = isLoading && drawn.length + missing.length < lines.length
  if (made.length === 0 || isPart) {
    if (isLoading) return <Skeleton name={t('{name} is loading', { name: titleOf(panel) })} rows={4} />
    if (lacking === '')
      return <Missing state={state.kind === 'loading' ? none : state} name={panel.devices.join(', ')} />
  }
  return (
    <>
      {lacking === '' ? null : (
        <p class="dash-note">{t('{list}: no such device, or no such gauge.', { list: lacking })}</p>
      )}
      {made.length === 0 ? null : (
        <ChartStack
          {...{ panels, zone, times, scale }}
          window={shown.window}
          nowMs={shown.nowMs}
          label={titleOf(panel)}
          onWindow={shown.zoomTo}
          onReset={() => shown.choose('24h')}
        />
      )}
    </>
  )
}

/** An answer without values. */
const none: ResourceState<unknown> = { kind: 'ready', value: undefined, atMs: 0 }

const kindsOf = { bars: ['counter', 'rate'], state: ['state'] } as const

export function BarsPanel({ panel, context, size }: PanelProps) {
  const shown = usePanelRange(panel.range)
  const height = size.height / panel.devices.length
  return (
    <>
      {panel.devices.map(device => (
        <DeviceBars key={device} {...{ device, panel, context, shown, height }} />
      ))}
    </>
  )
}

interface DeviceBarsProps extends Omit<PanelProps, 'size'> {
  readonly device: string
  readonly shown: ShownRange
  readonly height: number
}

function DeviceBars({ device, panel, context, shown, height }: DeviceBarsProps) {
  const of = useMemo(() => measuredDevice(device), [device])
  const { everyMs } = context
  const latest = useResource<LatestOfDevice>(latestAddress(device), { everyMs })
  const detailPath = of.pathOf('detail_data', `points=800&t=1&flags=1&metrics=${panel.metrics.join()}`)
  const detail = useResource<Detail>(addressOf(`/api/${detailPath}`), { everyMs })
  const [known, found] = [lastValue(latest), lastValue(detail)]
  if (known === undefined) return <Missing state={latest} name={device} />
  if (found === undefined) return <Missing state={detail} name={device} />
  return <KnownBars {...{ of, panel, context, shown, height }} latest={known} detail={found} />
}

interface KnownBarsProps extends Omit<DeviceBarsProps, 'device'> {
  readonly of: Measured
  readonly latest: LatestOfDevice
  readonly detail: Detail
}

function KnownBars({ of, panel, context, shown, height, latest, detail }: KnownBarsProps) {
  const { times, scale } = context
  const kinds: readonly string[] = kindsOf[panel.kind === 'state' ? 'state' : 'bars']
  const zone = useMemo(() => createZone(detail.time_zone), [detail.time_zone])
  const described = JSON.stringify({ ...latest.metrics, ...detail.metrics })
  const quantities = useMemo(() => quantitiesOf(JSON.parse(described)), [described])
  const metrics = useMemo(
    () =>
      panel.metrics.map(name => ({ name, kind: quantities.of(name).kind })).filter(({ kind }) => kinds.includes(kind)),
    [panel.metrics, quantities],
  )
  const { state, series } = useRangeSeries({
    of,
    shown,
    detail,
    live: noReadings,
    lastValues: latest.values,
    expectedSeconds: null,
    metrics,
    zone,
  })
  const panels = useMemo(() => {
    const charted = inUnits(describedBy(quantities, series?.described), series?.units)
    const made = (series?.series ?? [])
      .filter(({ metric }) => metrics.some(({ name }) => name === metric))
      .map(one =>
        panelOf(one, { quantity: charted.of(one.metric), times, suspects: undefined, stepMs: series?.stepMs }),
      )
    const named = panel.devices.length === 1 ? made : made.map(one => ({ ...one, title: `${of.name}: ${one.title}` }))
    return panel.kind === 'state' ? named : sharedHeight(named, height, scale)
  }, [series, quantities, times, height, scale])
  if (panels.length === 0) return <Missing state={series === undefined ? state : none} name={of.name} />
  return (
    <ChartStack
      {...{ panels, times, scale }}
      zone={context.zone}
      window={shown.window}
      nowMs={shown.nowMs}
      label={`${titleOf(panel)}, ${of.name}`}
      onWindow={shown.zoomTo}
      onReset={() => shown.choose('24h')}
    />
  )
}

const noReadings: [] = []

export function ValuePanel({ panel, context }: PanelProps) {
  const { devices } = panel
  const answers = useResources<LatestOfDevice>(devices.map(latestAddress), { everyMs: context.everyMs })
  const isAlone = linesOf(panel).length === 1 && panel.title === ''
  return (
    <ul class="dash-values">
      {devices.map((device, place) => {
        const state = answers[place] ?? { kind: 'loading' }
        const latest = lastValue(state)
        if (latest === undefined) {
          return (
            <li key={device}>
              <Missing state={state} name={device} />
            </li>
          )
        }
        return panel.metrics.map(metric => (
          <Value key={`${device} ${metric}`} {...{ metric, context, isAlone }} latest={latest} />
        ))
      })}
    </ul>
  )
}

interface ValueProps {
  latest: LatestOfDevice
  metric: string
  context: PanelContext
  /** True where the panel's title has the names. */
  isAlone: boolean
}

function Value({ latest, metric, context, isAlone }: ValueProps) {
  const { device, state, values } = withLive(latest, context.live.get(latest.device))
  const quantity = quantitiesOf(latest.metrics).of(metric)
  const value = Object.hasOwn(values, metric) ? values[metric] : undefined
  return (
    <li>
      {isAlone ? null : (
        <p class="dash-name">
          <a href={addressOf(devicePath(device))}>{device}</a>, {nameWithin(quantity)}
        </p>
      )}
      <p class="dash-value">{value === undefined ? '–' : kindText(value.v, quantity)}</p>
      <p class="dash-state">
        <StateBadge state={state} />{' '}
        <span>{value === undefined ? t('no such value') : ageText(serverNowMs.value - value.ts)}</span>
      </p>
    </li>
  )
}
