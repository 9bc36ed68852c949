/** Table cells with a device's last 24 hours and trends. */

import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { HourStrip } from '../../parts/hour-strip.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { TrendArrow } from '../../parts/trend-arrow.tsx'
import { hasFullHour, noFullHour } from '../../text/hours.ts'
import { noValue } from '../../text/numbers.ts'
import { type AirMetric, builtInQuantities } from '../../text/quantities.ts'
import { meansText, trendText } from '../../text/trend-words.ts'
import type { Trends } from './use-trends.ts'

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
