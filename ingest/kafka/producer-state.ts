/**
 * A producer's identity for a broker: its number, an epoch, and a sequence number of each group in it. A broker appends a
 * sequence number once, and rejects epochs before the latest one. So an append with an unknown outcome starts the next epoch, as
 * KIP-360 does for idempotent producers. Once a group of the new epoch is stored, pending groups of the old epoch are rejected,
 * so they never follow newer ones.
 */

export interface Producer {
  id: bigint
  epoch: number
  sequence: number
}

/** Epochs have 16 bits, numbers 32, both signed. */
export const epochMax = 0x7fff
const sequenceMax = 0x7fff_ffff
/** The remaining epochs are reserved for unknown outcomes. */
const renewalEpoch = 0x4000

/** Undefined when a new number is needed. Only once the broker has seen the epoch, it rejects older ones by itself. */
export function afterStored(producer: Producer): Producer | undefined {
  if (producer.epoch >= renewalEpoch) return undefined
  return producer.sequence === sequenceMax ? nextEpoch(producer) : { ...producer, sequence: producer.sequence + 1 }
}

/**
 * Nothing was appended, so the sequence number is free. It is still not reused while epochs remain: as a supposed duplicate, the
 * next group would be acknowledged but not stored.
 */
export function afterRefused(producer: Producer): Producer {
  return producer.epoch < renewalEpoch ? nextEpoch(producer) : producer
}

/** The epoch exceeds `epochMax` when none is left, after 16,000 unknown outcomes without a stored group between them. */
export function afterUnknown(producer: Producer): Producer {
  return nextEpoch(producer)
}

function nextEpoch({ id, epoch }: Producer): Producer {
  return { id, epoch: epoch + 1, sequence: 0 }
}
