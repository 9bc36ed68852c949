/** A range of two dates with times, as people write them on the clock of the page. */

import { localMs, type Zone } from '../text/zone.ts'
import { readWindow, spanMsMax, spanMsMin, type TimeWindow } from './range.ts'

/** `2026-11-24T10:00`, as fields of dates with times have it. */
export function localMinute(atMs: number, zone: Zone): string {
  return new Date(atMs + zone.offsetMs(atMs)).toISOString().slice(0, 16)
}

/** Returns a text where the fields are invalid. */
export function customWindow(from: string, to: string, zone: Zone, nowMs: number): TimeWindow | string {
  if (![from, to].every(isMinute)) return 'Enter both times.'
  const [fromMs, toMs] = [localMs(zone, from), localMs(zone, to)]
  if (toMs <= fromMs) return 'The end must be after the start.'
  if (toMs > nowMs) return 'The end is in the future.'
  if (toMs - fromMs < spanMsMin) return 'A range has at least 10 minutes.'
  if (toMs - fromMs > spanMsMax) return 'A range has at most 366 days.'
  return { fromMs, toMs }
}

/** Browsers hand over an empty text for a field that is filled in part. */
const isMinute = (text: string) => !Number.isNaN(Date.parse(`${text}Z`))

/** Returns the error of a range in the address, or undefined. */
export function addressFault(fields: URLSearchParams): string | undefined {
  if ((!fields.has('from') && !fields.has('to')) || readWindow(fields) !== undefined) return undefined
  return 'The range in the address cannot be shown: from and to are full minutes, such as 2026-11-24T10:00Z, from 10 minutes to 366 days apart.'
}
