/** A finding about readings that were sent and rejected. */

import { type Finding, noDetails } from './finding.ts'

/** Only readings with the device's own credential: anyone may send invalid ones in its name. */
export interface RejectedReadings {
  /** A lower bound, rounded to a power of two because it is part of an answer's key. */
  readonly count: number
  /** The most frequent reason. */
  readonly reason: string
  /** Time of the first rejection. */
  readonly sinceMs: number
}

const countMin = 4
/** A smaller share consists of single mistakes. */
const shareMin = 0.01

/** `readings` is the number of accepted readings of the last day. */
export function rejectedFinding({ count, reason, sinceMs }: RejectedReadings, readings: number): Finding | undefined {
  if (count < countMin || count < shareMin * (count + readings)) return undefined
  return { ...noDetails, code: 'rejected', severity: 'warning', metric: null, sinceMs, count, reason }
}
