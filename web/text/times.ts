/** Times and durations in sentences and tables of the pages. */

import { type Times, createTimes as timesIn } from '../theme/times.ts'
import { t, tn, words } from '../words/words.ts'

/** Times in the page's language, as `createTimes` of `theme/times.ts`. */
export function createTimes(zone: string): Times {
  return timesIn(zone, words.language)
}

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
  { name: t('d'), seconds: 86_400 },
  { name: t('h'), seconds: 3_600 },
  { name: t('min'), seconds: 60 },
  { name: t('s'), seconds: 1 },
]

/** A span in its largest two units where that says more: `12 s`, `3 min`, `1 h 20 min`, `2 d 4 h`, `41 d`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const at = units.findIndex(unit => seconds >= unit.seconds)
  const unit = units[at]
  if (unit === undefined) return `0 ${t('s')}`
  const count = Math.floor(seconds / unit.seconds)
  const smaller = units[at + 1]
  const rest = smaller === undefined ? 0 : Math.floor((seconds % unit.seconds) / smaller.seconds)
  // Seconds beside minutes would only flicker, and hours beside many days say nothing.
  const hasSmaller = smaller !== undefined && rest > 0 && unit.seconds !== 60 && count < 10
  return hasSmaller ? `${count} ${unit.name} ${rest} ${smaller.name}` : `${count} ${unit.name}`
}

/** `3 min ago`. A time ahead of the clock, as of a device whose clock is wrong, is `in 3 min`. */
export function ageText(ms: number): string {
  if (ms <= -1000) return t('in {span}', { span: spanText(-ms) })
  return ms < 1000 ? t('now') : t('{span} ago', { span: spanText(ms) })
}

const shares = [
  { letter: 'D', share: t('complete') },
  { letter: 'C', share: t('at least half') },
  { letter: 'B', share: t('less than half') },
  { letter: 'A', share: t('without readings') },
  { letter: '-', share: t('before the first reading') },
]

/** Shown before a device's first full hour. */
export const noFullHour = t('no full hour yet')

/** True once an hour has passed completely since the first reading. */
export function hasFullHour(hours: string): boolean {
  return /[A-D]/.test(hours)
}

/** `24 hours: 20 complete, 3 at least half, 1 without readings`: all of them, so that the counts add up. */
export function hoursText(hours: string): string {
  if (!hasFullHour(hours)) return noFullHour
  const counts = shares.flatMap(({ letter, share }) => {
    const count = hours.split(letter).length - 1
    return count === 0 ? [] : [`${count} ${share}`]
  })
  return `${tn(hours.length, '{count} hour', '{count} hours')}: ${counts.join(', ')}`
}
