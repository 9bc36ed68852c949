/** How much a sender may send, one for all ways in, and how often anybody may fail to authenticate. */

import { type AuthRateLimit, createAuthRateLimit } from '../api/http/auth-rate-limit.ts'
import { createDeviceRate } from '../api/write/device-rate.ts'
import { createFairShare, type FairShare } from '../api/write/fair-share.ts'
import type { IntakeOptions } from '../api/write/intake.ts'
import { createBulkJournal } from '../ingest/import/bulk-journal.ts'
import type { Ingest } from '../ingest/ingest.ts'
import { createBrokerRate } from '../mqtt/broker-rate.ts'
import type { Config } from '../settings/config.ts'
import type { Clock } from './clock.ts'

type IsWithinRate = IntakeOptions['isWithinRate']

export interface SenderRates {
  /** Of bodies of many readings, in whichever format. */
  fairShare: FairShare
  /** One for all ways in: who guesses does not get as many attempts for each. */
  authRateLimit: AuthRateLimit
  /** Of single readings. */
  isWithinRate: IsWithinRate
  isWithinBrokerRate: IsWithinRate
}

/** `brokerId` is the writer that the outside broker is. */
export function createSenderRates(config: Config, nowMs: Clock, ingest: Ingest, brokerId: string): SenderRates {
  const fairShare = createFairShare({ perSecond: config.BULK_RATE, burst: config.BULK_BURST }, nowMs)
  const isWithinRate = createDeviceRate({ perSecond: config.DEVICE_RATE, burst: config.DEVICE_BURST }, nowMs)
  const { hasRoom } = createBulkJournal(ingest)
  return {
    fairShare,
    authRateLimit: createAuthRateLimit(config.FAILED_ATTEMPTS, nowMs),
    isWithinRate,
    isWithinBrokerRate: createBrokerRate({ isWithinRate, fairShare, hasRoom, writerId: brokerId }),
  }
}
