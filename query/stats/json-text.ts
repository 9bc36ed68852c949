/** Writes the numbers of an answer as JSON text. */

import { bug } from '../../store/limits/bug.ts'

/**
 * The members of an object, for insertion among others. `JSON.stringify` alone would silently write NaN and infinities
 * as null; here they are internal errors. Missing values must be null already.
 */
export function jsonMembers(value: object): string {
  const text = JSON.stringify(value, (name, part: unknown) => {
    if (typeof part === 'number' && !Number.isFinite(part)) throw bug(`${name} is ${part}`)
    return part
  })
  return text.slice(1, -1)
}
