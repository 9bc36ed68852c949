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
