/** Offsets have 64 bits in Kafka, and are numbers here: 2^53 is not reached. */

import { Unanswered } from './kafka-errors.ts'

export function offsetOf(offset: bigint): number {
  if (offset < 0n || offset > BigInt(Number.MAX_SAFE_INTEGER))
    throw new Unanswered(`an answer with the offset ${offset}`)
  return Number(offset)
}
