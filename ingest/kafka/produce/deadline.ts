/** The start data of the journal's thread for a topic, and the deadline of a group, which it shares with the main thread. */

import type { JournalShared } from '../../journal/journal-shared.ts'
import type { KafkaOptions } from '../client/connect.ts'

/** Start data of the journal's thread for a topic. */
export interface AppendThreadData {
  connection: KafkaOptions
  topic: string
  shared: JournalShared
  /** Deadline of the group passed to the thread. */
  deadline: AppendDeadline['shared']
}

/** Indices. */
const at = { monotonicMs: 0, wallMs: 1 } as const

/**
 * The deadline of a group's first request to a broker, in memory shared with the journal's thread. The main thread sets it to the
 * end of this node's lease when it passes the group on. A process frozen in between detects the expiry, and does not store
 * records admitted by a credential that may have been revoked meanwhile.
 *
 * Limit: a request may be checked and then freeze with its process before its first byte is sent.
 */
export class AppendDeadline {
  /** Pass it to a thread, which creates an AppendDeadline from it. */
  readonly shared: Float64Array<SharedArrayBuffer>
  readonly #wallMs: () => number

  constructor(shared = new Float64Array(new SharedArrayBuffer(8 * 2)), wallMs: () => number = Date.now) {
    this.shared = shared
    this.#wallMs = wallMs
  }

  /** Sets the deadline `leftMs` from now. Returns false when `leftMs` is not positive. */
  begin(leftMs: () => number): boolean {
    // The clocks are read first: a freeze in between shortens the deadline.
    const [startMs, startWallMs] = [monotonicMs(), this.#wallMs()]
    const ms = leftMs()
    this.shared[at.monotonicMs] = startMs + ms
    this.shared[at.wallMs] = startWallMs + ms
    return ms > 0
  }

  /** Checks both clocks, since the monotonic one stops while a machine is suspended. */
  isOver(): boolean {
    return monotonicMs() >= (this.shared[at.monotonicMs] ?? 0) || this.#wallMs() >= (this.shared[at.wallMs] ?? 0)
  }
}

/** Equal in all threads, unlike `performance.now`. */
function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
