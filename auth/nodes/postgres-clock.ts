/** The clock of PostgreSQL, as a node knows it: the one that all nodes can compare. */

interface Measurement {
  /** To be added to the clock of this process that never steps. */
  offsetMs: number
  /** As the round trip leaves open when PostgreSQL has read its clock. */
  errorMs: number
  atMs: number
}

/** As long as a measurement stands though later ones are less exact: clocks of machines that are not synchronised part by some ms. */
const keptMs = 60_000

export class PostgresClock {
  readonly #monotonicMs: () => number
  #best: Measurement | undefined

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs
  }

  /** What PostgreSQL has read of its clock for a question that was asked at `startMs` and is answered now. */
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
 * How far the clock of PostgreSQL has stepped forward within a time. A lease that it shows to have expired may still be valid by
 * the clocks of its node, which do not step.
 */
export class ForwardStep {
  readonly #withinMs: number
  readonly #monotonicMs: () => number
  /** The least that the clock was ahead of the one that never steps, in this stretch of time and in the one before. */
  #least = Number.POSITIVE_INFINITY
  #leastBefore = Number.POSITIVE_INFINITY
  #stretchEndMs = Number.NEGATIVE_INFINITY

  constructor(withinMs: number, monotonicMs: () => number = () => performance.now()) {
    this.#withinMs = withinMs
    this.#monotonicMs = monotonicMs
  }

  /** As `PostgresClock.note`. */
  note(startMs: number, postgresMs: number): void {
    if (this.#monotonicMs() >= this.#stretchEndMs) {
      this.#leastBefore = this.#least
      this.#least = Number.POSITIVE_INFINITY
      this.#stretchEndMs = this.#monotonicMs() + this.#withinMs
    }
    this.#least = Math.min(this.#least, postgresMs - startMs)
  }

  /** What it must have stepped by at least, where it shows this now. */
  sizeMs(postgresMs: number): number {
    return Math.max(0, postgresMs - this.#monotonicMs() - Math.min(this.#least, this.#leastBefore))
  }
}
