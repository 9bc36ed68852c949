/**
 * The rate limit of readings from the outside broker. It delivers what it held during an outage at once, and its queue has
 * one order for all devices. So what is beyond the rate of a device is not delayed: it counts towards the share of a
 * sender of batches, and like batches it leaves the last part of the journal to other readings. Beyond that the whole link
 * waits: the broker keeps what it has, and an acknowledged reading would be gone.
 */

import type { BulkJournal } from '../import/bulk-journal.ts'
import type { FairShare } from '../intake/fair-share.ts'
import type { IntakeOptions } from '../intake/intake.ts'

export interface BrokerRateOptions extends Pick<BulkJournal, 'hasRoom'>, Pick<IntakeOptions, 'isWithinRate'> {
  fairShare: FairShare
  /** Of the writer that the broker is. */
  writerId: string
}

/** More than the record of a reading takes. */
const recordBytesMax = 128

export function createBrokerRate(options: BrokerRateOptions): IntakeOptions['isWithinRate'] {
  const { isWithinRate, fairShare, hasRoom, writerId } = options
  return device => {
    if (isWithinRate(device)) return true
    if (fairShare.waitSeconds(writerId) !== undefined || !hasRoom(recordBytesMax)) return false
    fairShare.charge(writerId, 1)
    return true
  }
}
