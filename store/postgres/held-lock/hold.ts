/**
 * Until when a process may do what a lock is for, in memory that its threads share: nanoseconds of `process.hrtime`, the monotonic
 * clock, which is the same in all threads and goes on while the process is frozen.
 */

export class Hold {
  /** To be handed to a thread, which makes a Hold of it. */
  readonly shared: BigInt64Array<SharedArrayBuffer>

  constructor(shared = new BigInt64Array(new SharedArrayBuffer(8))) {
    this.shared = shared
  }

  /** To be asked directly before each request: what was true a moment ago is not after a freeze. */
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
