/**
 * Id of a topic's record, for dead letters and event cursors: one number, in the order of the topic, from the group's offset and
 * the place in the group.
 */

import { bug } from '../../store/limits/bug.ts'

/** A group of 4 MiB has at most some 127,100 records, of 33 bytes (points). */
export const recordsPerGroup = 2 ** 17

/** Offsets are below 2^36: four years at 500 groups a second. */
export function letterId(offset: number, index: number): number {
  const id = offset * recordsPerGroup + index
  const isValid = offset >= 0 && index >= 0 && index < recordsPerGroup && Number.isSafeInteger(id)
  if (!isValid) throw bug(`there is no id for record ${index} of the group at offset ${offset}`)
  return id
}
