/** Times as this API writes them: UTC without a mark, or local with an offset; microseconds only if they are not zero. */

import { LRUCache } from 'lru-cache'
import { ZoneOffsets } from '../../analytics/time/zone-offsets.ts'

const secondUs = 1_000_000
const minuteMs = 60_000
/** There are some 600 zones, by whatever spelling. */
const zonesMax = 1_000
const zones = new LRUCache<string, ZoneOffsets>({ max: zonesMax })

/** `2016-05-30T02:20:00` */
export function utcText(timeUs: number): string {
  const fractionUs = timeUs - Math.floor(timeUs / secondUs) * secondUs
  const seconds = new Date((timeUs - fractionUs) / 1000).toISOString().slice(0, 19)
  return fractionUs === 0 ? seconds : `${seconds}.${String(fractionUs).padStart(6, '0')}`
}

/** `2016-05-30T07:50:00+05:30`. Throws a RangeError when there is no such zone. */
export function localText(timeUs: number, timeZone: string): string {
  const offsetMs = zoneOf(timeZone).at(Math.floor(timeUs / 1000))
  const offsetMinutes = Math.trunc(Math.abs(offsetMs) / minuteMs)
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  const offset = `${twoDigits(Math.floor(offsetMinutes / 60))}:${twoDigits(offsetMinutes % 60)}`
  // An offset of old, with seconds, is cut to minutes in the clock too, so that both name the same moment.
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
