/** Table cells with a device's last 24 hours and trends, and the hook that reads the trends of the rows on the screen. */

import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { FleetDevice, FleetTrends, Trend } from '../../../query/live/fleet-shape.ts'
import { linearScale, linePath } from '../../charts/paths.ts'
import { addressOf } from '../../client/address.ts'
import { useResource, useRested } from '../../client/use-resource.ts'
import { HourStrip, hourStep } from '../../parts/marks.tsx'
import { noValue } from '../../text/phrases.ts'
import {
  type AirMetric,
  builtInQuantities,
  measure,
  measureDifference,
  numberText,
  type Quantity,
} from '../../text/quantities.ts'
import { hasFullHour, noFullHour } from '../../text/times.ts'
import { t } from '../../words/words.ts'
import { type KnownTrends, withNewerTrends } from './fleet-devices.ts'

/** A change that counts as steady fills no more than half of the height. */
const spanMin: Record<AirMetric, number> = { temperature: 1, humidity: 6, pressure: 3 }

interface HoursProps extends Pick<FleetDevice, 'device' | 'hours' | 'last_seen'> {
  trends: Trends
}

export function Hours({ device, hours, last_seen, trends }: HoursProps) {
  if (last_seen === null) return <span class="no-value">{noValue}</span>
  if (!hasFullHour(hours)) return <span class="no-hours">{noFullHour}</span>
  return (
    <>
      <Means {...{ device, trends }} />
      <HourStrip hours={hours} />
    </>
  )
}

function Means({ device, trends }: { device: string; trends: Trends }) {
  const trend = trends.value.get(device)
  if (trend === undefined) return null
  const { means, metric } = trend
  const label = meansText(means, builtInQuantities.of(metric))
  return label === undefined ? null : <Sparkline values={means} spanMin={spanMin[metric]} label={label} />
}

/** The trend beside its metric's value. A device has one. */
export function ValueTrend({ device, metric, trends }: { device: string; metric: AirMetric; trends: Trends }) {
  const found = trends.value.get(device)
  if (found?.metric !== metric || found.trend === null) return null
  const label = trendText(found, builtInQuantities.of(metric))
  return label === undefined ? null : <TrendArrow trend={found.trend} label={label} />
}

export type Trends = ReadonlySignal<KnownTrends>

const everyMs = 60_000

/** Trends of the devices in `path` and of earlier paths. */
export function useTrends(path: string | undefined): Trends {
  const trends = useSignal<KnownTrends>(new Map())
  const rested = useRested(path)
  const state = useResource<FleetTrends>(rested === undefined ? undefined : addressOf(rested), { everyMs })
  useEffect(() => {
    if (state.kind === 'ready') trends.value = withNewerTrends(trends.peek(), state.value.devices)
  }, [state])
  return trends
}

const height = 22
/** Room for the line's width. */
const edge = 2

interface SparklineProps {
  /** One an hour, null where there is none. */
  values: readonly (number | null)[]
  /** The height stands for at least this. */
  spanMin: number
  /** The content in a sentence for screen readers. */
  label: string
}

function Sparkline({ values, spanMin, label }: SparklineProps) {
  const known = values.filter(value => value !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const margin = Math.max(0, spanMin - (high - low)) / 2
  const y = linearScale([low - margin, high + margin], [height - edge, edge])
  const width = values.length * hourStep - 1
  const spots = values.map((value, hour) => [hour * hourStep + edge, value === null ? null : y(value)] as const)
  return (
    <svg class="sparkline" role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`} {...{ width, height }}>
      <path d={linePath(spots)} />
    </svg>
  )
}

const degrees: Record<Trend, number> = { rising: -45, steady: 0, falling: 45 }

/** `label`: the same in words. */
function TrendArrow({ trend, label }: { trend: Trend; label: string }) {
  return (
    <svg class="trend" role="img" aria-label={label} viewBox="-8 -8 16 16">
      <title>{label}</title>
      <path d="M-6 0H6M1 -5 6 0 1 5" transform={`rotate(${degrees[trend]})`} />
    </svg>
  )
}

type DeviceTrend = FleetTrends['devices'][number]

/** `rising, 1.2 °C in 3 hours`; undefined where nothing is known. */
function trendText({ trend, change }: Pick<DeviceTrend, 'trend' | 'change'>, quantity: Quantity): string | undefined {
  if (trend === null || change === null) return undefined
  return trend === 'steady'
    ? t('steady for 3 hours')
    : trend === 'rising'
      ? t('rising, {change} in 3 hours', { change: measureDifference(Math.abs(change), quantity) })
      : t('falling, {change} in 3 hours', { change: measureDifference(Math.abs(change), quantity) })
}

/** `Temperature in 24 hours: 17.7 to 21.5 °C`; undefined without a value. */
function meansText(means: DeviceTrend['means'], quantity: Quantity): string | undefined {
  const known = means.filter(mean => mean !== null)
  if (known.length === 0) return undefined
  const [low, high] = [Math.min(...known), Math.max(...known)]
  return t('{name} in {count} hours: {low} to {high}', {
    name: quantity.name,
    count: means.length,
    low: numberText(low, quantity),
    high: measure(high, quantity),
  })
}
