/** The one place where numbers become JSON text. */

import { bug } from '../../store/limits/bug.ts'

/**
 * The members of an object, to be put among others. `JSON.stringify` alone would write NaN and infinities as null without
 * a word: here they are an error of ours. What does not exist is null in the value already.
 */
export function jsonMembers(value: object): string {
  const text = JSON.stringify(value, (name, part: unknown) => {
    if (typeof part === 'number' && !Number.isFinite(part)) throw bug(`${name} is ${part}`)
    return part
  })
  return text.slice(1, -1)
}
