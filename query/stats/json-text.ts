/** The one place where figures become JSON text. */

import assert from 'node:assert/strict'

/**
 * As `JSON.stringify`, which would write NaN and infinities as null without a word: here they are an error of ours.
 * What does not exist is null in the value already.
 */
export function jsonText(value: object): string {
  return JSON.stringify(value, (name, part: unknown) => {
    assert(typeof part !== 'number' || Number.isFinite(part), `${name} is ${String(part)}`)
    return part
  })
}

/** Its members alone, to be put among others. */
export function jsonMembers(value: object): string {
  return jsonText(value).slice(1, -1)
}
