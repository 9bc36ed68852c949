/**
 * Until when the first request with a group may go to a broker, in memory that the journal's thread shares. The main thread sets it
 * when it hands the group over, to the end of the lease of this node. A process that was frozen in between sees that it is over, and does
 * not store what was let in by a credential that may have been revoked meanwhile.
 *
 * What it cannot exclude: a request that was checked and stood still with its process before its first byte was sent.
 */

/** Indices. */
const at = { monotonicMs: 0, wallMs: 1 } as const

export class AppendDeadline {
  /** To be handed to a thread, which makes an AppendDeadline of it. */
  readonly shared: Float64Array<SharedArrayBuffer>
  readonly #wallMs: () => number

  constructor(shared = new Float64Array(new SharedArrayBuffer(8 * 2)), wallMs: () => number = Date.now) {
    this.shared = shared
    this.#wallMs = wallMs
  }

  /** Sets it to as long from now as `leftMs` tells; false where that is not above 0. */
  begin(leftMs: () => number): boolean {
    // The clocks first: a freeze in between makes it shorter.
    const [startMs, startWallMs] = [monotonicMs(), this.#wallMs()]
    const ms = leftMs()
    this.shared[at.monotonicMs] = startMs + ms
    this.shared[at.wallMs] = startWallMs + ms
    return ms > 0
  }

  /** By whichever clock comes first: the monotonic one stands still while a machine is suspended. */
  isOver(): boolean {
    return monotonicMs() >= (this.shared[at.monotonicMs] ?? 0) || this.#wallMs() >= (this.shared[at.wallMs] ?? 0)
  }
}

/** Alike in all threads, unlike `performance.now`. */
function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
