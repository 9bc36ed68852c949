/** The change of a metric of the air in three hours, from its last value and its hourly means, and its direction. */

export const trends = ['rising', 'steady', 'falling'] as const
export type Trend = (typeof trends)[number]

const hourMs = 3_600_000
const trendMs = 3 * hourMs

/**
 * The value at `timeMs` minus the value three hours before, interpolated between the means of the hours around that
 * moment, which apply to the middles of their hours. NaN without either mean. `meanOf`: by hours since 1970, NaN
 * without a value.
 */
export function threeHourChange(value: number, timeMs: number, meanOf: (hour: number) => number): number {
  const place = (timeMs - trendMs) / hourMs - 0.5
  const hour = Math.floor(place)
  const [before, after] = [meanOf(hour), meanOf(hour + 1)]
  return value - (before + (place - hour) * (after - before))
}

/** `steady`: not beyond `steadyMax`, in either direction. */
export function trendOf(change: number, steadyMax: number): Trend {
  if (Math.abs(change) <= steadyMax) return 'steady'
  return change > 0 ? 'rising' : 'falling'
}
