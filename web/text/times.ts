/** Times and durations in sentences and tables of the pages. */

import { countOf } from '../../analytics/findings/value-words.ts'
import { createTimes } from '../theme/times.ts'

const local = createTimes('UTC')

/** `23 Nov 2026, 12:04`, of a `YYYY-MM-DD HH:mm` as answers have it, whatever its zone is. */
export function localMinuteText(text: string): string {
  return local.dateTime(Date.parse(`${text.replace(' ', 'T')}Z`))
}

/** `07:00`, `14:30`, of hours since midnight with their fraction; 24 is `24:00`, the end of a day. */
export function hourText(hour: number): string {
  const minutes = Math.round(hour * 60)
  const shown = hour < 24 ? minutes % 1440 : minutes
  return `${String(Math.floor(shown / 60)).padStart(2, '0')}:${String(shown % 60).padStart(2, '0')}`
}

const units = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3_600 },
  { name: 'min', seconds: 60 },
  { name: 's', seconds: 1 },
]

/** A span in its largest two units where that says more: `12 s`, `3 min`, `1 h 20 min`, `2 d 4 h`, `41 d`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const at = units.findIndex(unit => seconds >= unit.seconds)
  const unit = units[at]
  if (unit === undefined) return '0 s'
  const count = Math.floor(seconds / unit.seconds)
  const smaller = units[at + 1]
  const rest = smaller === undefined ? 0 : Math.floor((seconds % unit.seconds) / smaller.seconds)
  // Seconds beside minutes would only flicker, and hours beside many days say nothing.
  const hasSmaller = smaller !== undefined && rest > 0 && unit.name !== 'min' && count < 10
  return hasSmaller ? `${count} ${unit.name} ${rest} ${smaller.name}` : `${count} ${unit.name}`
}

/** `3 min ago`. A time ahead of the clock, as of a device whose clock is wrong, is `in 3 min`. */
export function ageText(ms: number): string {
  if (ms <= -1000) return `in ${spanText(-ms)}`
  return ms < 1000 ? 'now' : `${spanText(ms)} ago`
}

const words = [
  { letter: 'D', word: 'complete' },
  { letter: 'C', word: 'at least half' },
  { letter: 'B', word: 'less than half' },
  { letter: 'A', word: 'without readings' },
  { letter: '-', word: 'before the first reading' },
]

/** Shown before a device's first full hour. */
export const noFullHour = 'no full hour yet'

/** True once an hour has passed completely since the first reading. */
export function hasFullHour(hours: string): boolean {
  return /[A-D]/.test(hours)
}

/** `24 hours: 20 complete, 3 at least half, 1 without readings`: all of them, so that the counts add up. */
export function hoursText(hours: string): string {
  if (!hasFullHour(hours)) return noFullHour
  const counts = words.flatMap(({ letter, word }) => {
    const count = hours.split(letter).length - 1
    return count === 0 ? [] : [`${count} ${word}`]
  })
  return `${countOf(hours.length, 'hour')}: ${counts.join(', ')}`
}
