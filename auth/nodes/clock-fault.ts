/** Compares the clock of a node with PostgreSQL's clock. */

import type { Log } from '../../store/log.ts'

/** Within the difference of their clocks, two nodes may order receipt times wrongly. */
const aheadMsMax = 1_000

/** `aheadMs` is negative if the clock is behind; undefined until it was measured. */
export function clockFault(aheadMs: number | undefined): string | undefined {
  if (aheadMs === undefined || Math.abs(aheadMs) <= aheadMsMax) return undefined
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1)
  return `the clock of this node is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} PostgreSQL's clock`
}

/** Logs one line when the clock becomes wrong, and one when it is right again. */
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
