/** The hours of a device in words. */

import { countOf } from './numbers.ts'

const words = [
  { letter: 'D', word: 'complete' },
  { letter: 'C', word: 'nearly complete' },
  { letter: 'B', word: 'less than half' },
  { letter: 'A', word: 'without readings' },
]

/** `24 hours: 20 complete, 3 nearly complete, 1 without readings`. */
export function hoursText(hours: string): string {
  const counts = words.flatMap(({ letter, word }) => {
    const count = hours.split(letter).length - 1
    return count === 0 ? [] : [`${count} ${word}`]
  })
  return counts.length === 0 ? 'no readings in 24 hours' : `${countOf(hours.length, 'hour')}: ${counts.join(', ')}`
}
