/** Compares this process's clock with PostgreSQL's. */

import type { Log } from '../../store/log.ts'

interface Measurement {
  /** Offset to the monotonic clock of this process. */
  offsetMs: number
  /** The round trip leaves this uncertainty about PostgreSQL's reading. */
  errorMs: number
  atMs: number
}

/** A measurement is kept this long against less exact ones: unsynchronized clocks diverge by some ms. */
const keptMs = 60_000

export class PostgresClock {
  readonly #monotonicMs: () => number
  #best: Measurement | undefined

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs
  }

  /** Notes PostgreSQL's time from a query that began at `startMs` and ends now. */
  note(startMs: number, postgresMs: number): void {
    const atMs = this.#monotonicMs()
    const errorMs = (atMs - startMs) / 2
    const best = this.#best
    if (best !== undefined && best.errorMs < errorMs && atMs - best.atMs < keptMs) return
    this.#best = { offsetMs: postgresMs - (startMs + errorMs), errorMs, atMs }
  }

  /** Undefined until it was measured. */
  nowMs(): number | undefined {
    return this.#best && this.#monotonicMs() + this.#best.offsetMs
  }
}

/**
 * Measures how far PostgreSQL's clock has stepped forward within a time. A lease that is expired by that clock may
 * still be valid by its node's clocks, which do not step.
 */
export class ForwardStep {
  readonly #withinMs: number
  readonly #monotonicMs: () => number
  /** Smallest offset to the monotonic clock in the present interval and the previous one. */
  #least = Number.POSITIVE_INFINITY
  #leastBefore = Number.POSITIVE_INFINITY
  #stretchEndMs = Number.NEGATIVE_INFINITY

  constructor(withinMs: number, monotonicMs: () => number = () => performance.now()) {
    this.#withinMs = withinMs
    this.#monotonicMs = monotonicMs
  }

  note(startMs: number, postgresMs: number): void {
    if (this.#monotonicMs() >= this.#stretchEndMs) {
      this.#leastBefore = this.#least
      this.#least = Number.POSITIVE_INFINITY
      this.#stretchEndMs = this.#monotonicMs() + this.#withinMs
    }
    this.#least = Math.min(this.#least, postgresMs - startMs)
  }

  /** Smallest possible step if PostgreSQL shows this time now. */
  sizeMs(postgresMs: number): number {
    return Math.max(0, postgresMs - this.#monotonicMs() - Math.min(this.#least, this.#leastBefore))
  }
}

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
