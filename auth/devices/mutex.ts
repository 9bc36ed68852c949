/** A mutex: runs one piece of work at a time, first in, first out. */

export interface Mutex {
  /** Resolves as the work does, or to `full` where too many wait already. */
  run<Result>(work: () => Promise<Result>): Promise<Result | 'full'>
  /** Resolves when all that was asked for is done. */
  idle(): Promise<void>
}

export function createMutex(waitingMax: number): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  async function run<Result>(work: () => Promise<Result>): Promise<Result | 'full'> {
    if (waiting >= waitingMax) return 'full'
    waiting += 1
    const result = last.then(work)
    // The next one runs whether this one succeeded or not; its failure belongs to the caller.
    last = result.catch(() => undefined)
    try {
      return await result
    } finally {
      waiting -= 1
    }
  }

  return {
    run,
    idle: async () => {
      await last
    },
  }
}
