/**
 * The rate limit of readings from the outside broker. It delivers the backlog of an outage at once, in one order for all devices.
 * So readings beyond the rate of a device are not delayed: they count towards the share of a bulk sender, and like bulk bodies
 * they leave the last part of the journal to other readings. Beyond that the whole link waits: the broker keeps unacknowledged
 * readings, and acknowledged ones would be lost.
 */

import type { BulkJournal } from '../import/bulk-journal.ts'
import type { FairShare } from '../intake/fair-share.ts'
import type { IntakeOptions } from '../intake/intake.ts'

export interface BrokerRateOptions extends Pick<BulkJournal, 'hasRoom'>, Pick<IntakeOptions, 'isWithinRate'> {
  fairShare: FairShare
  /** Id of the broker as a writer. */
  writerId: string
}

/** Upper bound of a reading's record. */
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
