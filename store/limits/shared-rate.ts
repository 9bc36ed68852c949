/** Divides a rate among several processes. */

import type { Rate } from './token-buckets.ts'

/** Number of processes at present, including this one. */
export type ProcessCount = () => number

export const oneProcess: ProcessCount = () => 1

/** Share of one process: at least `perSecondMin`, a divisor of the rate, with a burst of one. */
export function sharedRate(rate: Rate, processes: ProcessCount, perSecondMin = 1): () => Rate {
  let [count, part] = [1, rate]
  return () => {
    const countNow = processes()
    if (countNow !== count) {
      count = countNow
      const perSecond = Math.max(Math.min(perSecondMin, rate.perSecond), rate.perSecond / count)
      part = { perSecond, burst: Math.max(1, rate.burst / count) }
    }
    return part
  }
}

/** Share of a count: rounded down, so that the sum stays within the count, and at least 1. */
export function sharedCount(count: number, processes: ProcessCount): number {
  return Math.max(1, Math.floor(count / processes()))
}
