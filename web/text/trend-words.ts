/** A trend and the hours behind it, in words. */

import type { FleetTrends } from '../../query/live/fleet-shape.ts'
import { measure, measureDifference, numberText, type Quantity } from './quantities.ts'

type DeviceTrend = FleetTrends['devices'][number]

/** `rising, 1.2 °C in 3 hours`; undefined where nothing is known. */
export function trendText(
  { trend, change }: Pick<DeviceTrend, 'trend' | 'change'>,
  quantity: Quantity,
): string | undefined {
  if (trend === null || change === null) return undefined
  return trend === 'steady'
    ? 'steady for 3 hours'
    : `${trend}, ${measureDifference(Math.abs(change), quantity)} in 3 hours`
}

/** `Temperature in 24 hours: 17.7 to 21.5 °C`; undefined without a value. */
export function meansText(means: DeviceTrend['means'], quantity: Quantity): string | undefined {
  const known = means.filter(mean => mean !== null)
  if (known.length === 0) return undefined
  const [low, high] = [Math.min(...known), Math.max(...known)]
  return `${quantity.name} in ${means.length} hours: ${numberText(low, quantity)} to ${measure(high, quantity)}`
}
