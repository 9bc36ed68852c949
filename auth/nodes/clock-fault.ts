/** Whether the clock of a node is wrong, measured by that of PostgreSQL. */

import type { Log } from '../../store/log.ts'

/** Readings that two nodes take within the difference of their clocks may have times of receipt in the other order. */
const aheadMsMax = 1_000

/** `aheadMs`: how far it is ahead, or, below 0, behind; undefined until it was measured. */
export function clockFault(aheadMs: number | undefined): string | undefined {
  if (aheadMs === undefined || Math.abs(aheadMs) <= aheadMsMax) return undefined
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1)
  return `the clock of this node is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} PostgreSQL's clock`
}

/** One line when the clock is wrong, one when it is right again. */
export function createClockLog(log: Pick<Log, 'info' | 'warn'>): (aheadMs: number | undefined) => void {
  let isWrong = false
  return aheadMs => {
    const fault = clockFault(aheadMs)
    if ((fault !== undefined) === isWrong) return
    isWrong = fault !== undefined
    if (fault !== undefined) log.warn({}, fault)
    else log.info({}, "the clock of this node agrees with PostgreSQL's clock")
  }
}
