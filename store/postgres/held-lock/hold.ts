/**
 * The time until which a process may act under a lock, in memory that its threads share: nanoseconds of `process.hrtime`. This
 * monotonic clock is the same in all threads and continues while the process is frozen.
 */

export class Hold {
  /** Pass it to a thread, which creates a Hold from it. */
  readonly shared: BigInt64Array<SharedArrayBuffer>

  constructor(shared = new BigInt64Array(new SharedArrayBuffer(8))) {
    this.shared = shared
  }

  /** Check directly before each request: a freeze may have intervened since an earlier check. */
  isHeld(): boolean {
    return process.hrtime.bigint() < Atomics.load(this.shared, 0)
  }

  extend(untilNs: bigint): void {
    Atomics.store(this.shared, 0, untilNs)
  }

  end(): void {
    Atomics.store(this.shared, 0, 0n)
  }
}
