/**
 * The local hour of the week of each moment, computed once for a device's times and used by the profiles of every
 * metric.
 */

import type { LocalTime } from './local-time.ts'

const hourMs = 3_600_000
/** 1970-01-01 was a Thursday, 72 hours after the start of its week. */
const hoursBeforeEpoch = 72

/**
 * 0 is Monday from 00:00 to 01:00 on the local clock, 167 the last hour of Sunday; the hour of the day is this modulo
 * 24. The hour that repeats when the clocks go back gets one label. Times are epoch milliseconds.
 */
export function hoursOfWeek(timesMs: Float64Array, local: Pick<LocalTime, 'offsetMs'>): Uint8Array {
  const hours = new Uint8Array(timesMs.length)
  for (let index = 0; index < timesMs.length; index++) {
    const timeMs = timesMs[index] as number
    const hour = (Math.floor((timeMs + local.offsetMs(timeMs)) / hourMs) + hoursBeforeEpoch) % 168
    hours[index] = hour < 0 ? hour + 168 : hour
  }
  return hours
}

export function hoursOfDay(weekHours: Uint8Array): Uint8Array {
  return weekHours.map(hour => hour % 24)
}
