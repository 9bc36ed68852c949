/**
 * By what a broker knows the groups of a producer: its number, an epoch, and in it a sequence number of each group. A broker
 * appends a number once, and nothing of an epoch before one that it has seen. So after an append of which we do not know the
 * outcome we go on in the next epoch, as KIP-360 has it for idempotent producers: from the first group that is stored then,
 * what is still under way of the old epoch is refused, and lands behind nothing newer.
 */

export interface Producer {
  id: bigint
  epoch: number
  sequence: number
}

/** Epochs are 16 bits, numbers 32, both signed. */
export const epochMax = 0x7fff
const sequenceMax = 0x7fff_ffff
/** From here on epochs are kept for outcomes that are not known. */
const renewalEpoch = 0x4000

/** Undefined: a new number is needed. Only now, when the broker has seen the epoch, older ones are refused without us. */
export function afterStored(producer: Producer): Producer | undefined {
  if (producer.epoch >= renewalEpoch) return undefined
  return producer.sequence === sequenceMax ? nextEpoch(producer) : { ...producer, sequence: producer.sequence + 1 }
}

/**
 * Nothing was appended, so the sequence number is still free. All the same it is not used again while there are epochs: taken
 * for a repetition, the next group would be acknowledged and not stored.
 */
export function afterRefused(producer: Producer): Producer {
  return producer.epoch < renewalEpoch ? nextEpoch(producer) : producer
}

/** Its epoch is behind `epochMax` when there is none left, after 16,000 unknown outcomes without a stored group between them. */
export function afterUnknown(producer: Producer): Producer {
  return nextEpoch(producer)
}

function nextEpoch({ id, epoch }: Producer): Producer {
  return { id, epoch: epoch + 1, sequence: 0 }
}
