/** The hours of a device in words. */

import { countOf } from '../../analytics/findings/value-words.ts'

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
