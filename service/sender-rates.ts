/** Limits a sender over all protocols, and failed authentication. */

import { type AuthRateLimit, createAuthRateLimit } from '../auth/rate-limits.ts'
import { createBulkJournal } from '../ingest/import/bulk-journal.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { IntakeOptions } from '../ingest/intake/intake.ts'
import { createBrokerRate, createDeviceRate, createFairShare, type FairShare } from '../ingest/intake/rates.ts'
import { type ProcessCount, sharedRate } from '../store/limits/token-buckets.ts'
import type { Clock } from './clock.ts'
import type { Config } from './settings/config.ts'

type IsWithinRate = IntakeOptions['isWithinRate']

export interface SenderRates {
  /** The share limits bodies of many readings in any format. */
  fairShare: FairShare
  /** Shared by all protocols, so that guessers do not get separate attempts for each. */
  authRateLimit: AuthRateLimit
  /** The rate limits single readings. */
  isWithinRate: IsWithinRate
  isWithinBrokerRate: IsWithinRate
}

export interface SenderRatesOptions {
  config: Config
  nowMs: Clock
  ingest: Ingest
  /** Writer id of the external broker. */
  brokerId: string
  /** Processes share the limits of a sender. */
  processes: ProcessCount
}

export function createSenderRates({ config, nowMs, ingest, brokerId, processes }: SenderRatesOptions): SenderRates {
  const { BULK_RATE, BULK_BURST, DEVICE_RATE, DEVICE_BURST, FAILED_ATTEMPTS } = config
  const fairShare = createFairShare(sharedRate({ perSecond: BULK_RATE, burst: BULK_BURST }, processes), nowMs)
  const isWithinRate = createDeviceRate(sharedRate({ perSecond: DEVICE_RATE, burst: DEVICE_BURST }, processes), nowMs)
  const { hasRoom } = createBulkJournal(ingest)
  return {
    fairShare,
    authRateLimit: createAuthRateLimit(FAILED_ATTEMPTS, nowMs, processes),
    isWithinRate,
    isWithinBrokerRate: createBrokerRate({ isWithinRate, fairShare, hasRoom, writerId: brokerId }),
  }
}
