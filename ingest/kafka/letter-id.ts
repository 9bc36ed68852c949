/**
 * The id of a record of a topic, as dead letters and the cursors of events have it: one number, in the order of the topic, for the
 * offset of a group and the place in it.
 */

import { bug } from '../../store/limits/bug.ts'

/** A group of 4 MiB has at most some 127,100 records, of 33 bytes (points). */
export const recordsPerGroup = 2 ** 17

/** Offsets are below 2^36: at 500 groups a second those of four years. */
export function letterId(offset: number, index: number): number {
  const id = offset * recordsPerGroup + index
  const isValid = offset >= 0 && index >= 0 && index < recordsPerGroup && Number.isSafeInteger(id)
  if (!isValid) throw bug(`there is no id for record ${index} of the group at offset ${offset}`)
  return id
}
