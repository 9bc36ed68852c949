/** How long a process may go by what it has read from PostgreSQL, by its own clocks. */

/** A node that is frozen while it has what others need to renew their leases has lost it before these end. */
export const idleMsMaxOf = (leaseMs: number): number => Math.min(1_000, Math.round(leaseMs / 3))

/**
 * Ends by the clock that never steps, which stands still while a machine is suspended, and by the clock of the wall, which does
 * not: by whichever comes first.
 */
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

  /** How long it is valid from now on; not above 0 when it is not. */
  leftMs(): number {
    return Math.min(this.#endMs - performance.now(), this.#endWallMs - this.#wallMs())
  }

  /** Grows when it is renewed after it was not valid: what was let in in an earlier term may have been revoked since. */
  term(): number {
    return this.#term
  }

  /** To be called before PostgreSQL is asked; what that gives is called when it has answered. */
  begin(): () => void {
    const [startMs, startWallMs] = [performance.now(), this.#wallMs()]
    return () => {
      if (!this.isValid()) this.#term++
      this.#endMs = startMs + this.#lengthMs
      this.#endWallMs = startWallMs + this.#lengthMs
    }
  }

  /** Since it was renewed; infinite without one. */
  ageMs(): number {
    return performance.now() + this.#lengthMs - this.#endMs
  }

  end(): void {
    this.#endMs = Number.NEGATIVE_INFINITY
  }
}
