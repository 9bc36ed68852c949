/**
 * The hours of a local day as its clock shows them: in a zone with half-hour offsets they begin between those in UTC.
 */

import type { Bucket } from '../summary/aggregates.ts'
import type { LocalTime } from './local-time.ts'

const minuteMs = 60_000

export interface LocalHour extends Bucket {
  /** 0 … 23 on the local clock. */
  readonly hour: number
  readonly text: string
}

/** One for each real hour: when the clocks go forward a label is missing, when they go back one comes twice. */
export function localHours(local: LocalTime, day: Bucket): LocalHour[] {
  const hours: LocalHour[] = []
  let startMs = day.startMs
  while (startMs < day.endMs) {
    const text = local.text(startMs * 1000)
    // Where clocks change by half an hour, one entry lasts half an hour, and the others keep to full hours.
    const endMs = Math.min(day.endMs, startMs + (60 - Number(text.slice(14))) * minuteMs)
    hours.push({ hour: Number(text.slice(11, 13)), text, startMs, endMs })
    startMs = endMs
  }
  return hours
}
