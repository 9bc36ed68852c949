/** The part that each of several processes grants of a rate. */

import type { Rate } from './token-buckets.ts'

/** As many processes as there are now, this one among them. */
export type ProcessCount = () => number

export const oneProcess: ProcessCount = () => 1

/** Of one of the processes: never less than `perSecondMin`, of which the rate is a multiple, and a burst of one. */
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

/** Of a count that processes share: rounded down, so that all together allow no more, and never less than 1. */
export function sharedCount(count: number, processes: ProcessCount): number {
  return Math.max(1, Math.floor(count / processes()))
}
