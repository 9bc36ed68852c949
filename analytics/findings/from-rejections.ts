/** A finding of readings that were sent and refused. */

import { type Finding, noDetails } from './finding.ts'

/** With the device's own credential: anybody may send what is refused in its name. */
export interface RejectedReadings {
  /** So many at least, a power of two: it is part of what an answer depends on. */
  readonly count: number
  /** Of most of them. */
  readonly reason: string
  /** When the first of them came. */
  readonly sinceMs: number
}

const countMin = 4
/** Fewer are single mistakes. */
const shareMin = 0.01

/** `readings`: those of the last day that were taken. */
export function rejectedFinding({ count, reason, sinceMs }: RejectedReadings, readings: number): Finding | undefined {
  if (count < countMin || count < shareMin * (count + readings)) return undefined
  return { ...noDetails, code: 'rejected', severity: 'warning', metric: null, sinceMs, count, reason }
}
