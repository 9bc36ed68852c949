/** Bounds by local clocks how long a process may rely on data that it has read from PostgreSQL. */

/** A node that freezes while it holds locks loses them before the leases of others end. */
export const idleMsMaxOf = (leaseMs: number): number => Math.min(1_000, Math.round(leaseMs / 3))

/** Ends by the monotonic or the wall clock. The monotonic clock stops while a machine is suspended. */
export class Lease {
  readonly #lengthMs: number
  readonly #wallMs: () => number
  #endMs = Number.NEGATIVE_INFINITY
  #endWallMs = Number.NEGATIVE_INFINITY
  #term = 0

  constructor(lengthMs: number, wallMs: () => number = Date.now) {
    this.#lengthMs = lengthMs
    this.#wallMs = wallMs
  }

  isValid(): boolean {
    return this.leftMs() > 0
  }

  /** Remaining validity; at most 0 without a valid lease. */
  leftMs(): number {
    return Math.min(this.#endMs - performance.now(), this.#endWallMs - this.#wallMs())
  }

  /** Increases at a renewal after an invalid time: credentials of an earlier term may have been revoked since. */
  term(): number {
    return this.#term
  }

  /** Call it before the query to PostgreSQL, and its result after the answer. */
  begin(): () => void {
    const [startMs, startWallMs] = [performance.now(), this.#wallMs()]
    return () => {
      if (!this.isValid()) this.#term++
      this.#endMs = startMs + this.#lengthMs
      this.#endWallMs = startWallMs + this.#lengthMs
    }
  }

  /** Time since the renewal; infinite without one. */
  ageMs(): number {
    return performance.now() + this.#lengthMs - this.#endMs
  }

  end(): void {
    this.#endMs = Number.NEGATIVE_INFINITY
  }
}
