/** Rate limits of readings: for single ones of a device, for bulk bodies of a credential, and for the outside broker. */

import type { Device } from '../../auth/devices/device.ts'
import { type Bucket, type Rate, TokenBuckets } from '../../store/limits/token-buckets.ts'
import type { BulkJournal } from '../import/bulk-journal.ts'
import type { IntakeOptions } from './intake.ts'

export interface FairShare {
  /** Seconds until the writer may send the next body. Undefined for now. */
  waitSeconds(writerId: string): number | undefined
  /** Charges a body of the writer: its stored and rejected readings, and its uncompressed bytes. */
  charge(writerId: string, readings: number, bytes?: number): void
}

/** A reading has some 200 bytes as JSON with a name, a time and all metrics. */
const bytesPerReading = 256

/**
 * Limits the readings of each credential in bulk bodies by a token bucket. The number of readings is known at the end
 * of a body. So a started body is taken completely and may overdraw the bucket. The next body waits until it is
 * refilled. The burst admits the backlog of an outage at once. Bytes with few readings, or none, cost as much as
 * generously long readings: they have to be read as well.
 */
export function createFairShare(rate: Rate | (() => Rate), nowMs: () => number): FairShare {
  const readingsOf = new TokenBuckets<string>(rate, nowMs)
  return {
    waitSeconds(writerId) {
      const waitMs = readingsOf.waitMs(writerId)
      return waitMs > 0 ? Math.ceil(waitMs / 1000) : undefined
    },
    charge(writerId, readings, bytes = 0) {
      readingsOf.spend(writerId, Math.max(readings, Math.ceil(bytes / bytesPerReading)))
    },
  }
}

/** Rate limit of single readings for each device. */
export function createDeviceRate(rate: Rate | (() => Rate), nowMs: () => number): IntakeOptions['isWithinRate'] {
  const readings = new TokenBuckets(rate, nowMs, new WeakMap<Device, Bucket>())
  return device => readings.take(device)
}

interface BrokerRateOptions extends Pick<BulkJournal, 'hasRoom'>, Pick<IntakeOptions, 'isWithinRate'> {
  fairShare: FairShare
  /** Id of the broker as a writer. */
  writerId: string
}

/** Upper bound of a reading's record. */
const recordBytesMax = 128

/**
 * The rate limit of readings from the outside broker. It delivers the backlog of an outage at once, in one order for all devices.
 * So readings beyond the rate of a device are not delayed: they count towards the share of a bulk sender, and like bulk bodies
 * they leave the last part of the journal to other readings. Beyond that the whole link waits: the broker keeps unacknowledged
 * readings, and acknowledged ones would be lost.
 */
export function createBrokerRate(options: BrokerRateOptions): IntakeOptions['isWithinRate'] {
  const { isWithinRate, fairShare, hasRoom, writerId } = options
  return device => {
    if (isWithinRate(device)) return true
    if (fairShare.waitSeconds(writerId) !== undefined || !hasRoom(recordBytesMax)) return false
    fairShare.charge(writerId, 1)
    return true
  }
}
