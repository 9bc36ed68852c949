/** Moments as ISO 8601 text: UTC without a suffix, or local with an offset; microseconds only if they are not zero. */

import { LRUCache } from 'lru-cache'
import { formatDate, twoDigits } from './calendar.ts'
import { ZoneOffsets } from './local-time.ts'

const secondUs = 1_000_000
const daySeconds = 86_400
const minuteMs = 60_000
/** There are some 600 zones, including alternative spellings. */
const zonesMax = 1_000
/** The platform takes milliseconds to load a zone. */
const zones = new LRUCache<string, ZoneOffsets>({ max: zonesMax })

/** `2016-05-30T02:20:00` */
export function utcText(timeUs: number): string {
  const seconds = Math.floor(timeUs / secondUs)
  const micros = timeUs - seconds * secondUs
  const day = Math.floor(seconds / daySeconds)
  const second = seconds - day * daySeconds
  const clock = `${twoDigits(Math.floor(second / 3600))}:${twoDigits(Math.floor(second / 60) % 60)}`
  const fraction = micros === 0 ? '' : `.${String(micros).padStart(6, '0')}`
  return `${formatDate(day)}T${clock}:${twoDigits(second % 60)}${fraction}`
}

/** `2016-05-30T07:50:00+05:30`. Throws a RangeError for an unknown zone. */
export function localText(timeUs: number, timeZone: string): string {
  const offsetMs = zoneOf(timeZone).at(Math.floor(timeUs / 1000))
  const offsetMinutes = Math.trunc(Math.abs(offsetMs) / minuteMs)
  const offset = `${twoDigits(Math.floor(offsetMinutes / 60))}:${twoDigits(offsetMinutes % 60)}`
  // A historical offset with seconds is cut to minutes in the clock too, so that both describe the same moment.
  const shownMs = Math.sign(offsetMs) * offsetMinutes * minuteMs
  return `${utcText(timeUs + shownMs * 1000)}${offsetMs < 0 ? '-' : '+'}${offset}`
}

function zoneOf(timeZone: string): ZoneOffsets {
  const known = zones.get(timeZone)
  if (known !== undefined) return known
  const zone = new ZoneOffsets(timeZone)
  zones.set(timeZone, zone)
  return zone
}
