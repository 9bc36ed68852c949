/** A mutex: runs one piece of work at a time, first in, first out. */

export interface Mutex {
  /** Resolves as the work does. The next one runs whether this one succeeded or not. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** The same, or `full` where too many have not ended yet. */
  tryRun<Result>(work: () => Promise<Result>): Promise<Result | 'full'>
  /** Resolves when all that was asked for is done. */
  idle(): Promise<void>
}

/** `worksMax` is for `tryRun`: where work is only asked for by `run`, the callers bound it. */
export function createMutex(worksMax = Number.POSITIVE_INFINITY): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  let works = 0

  async function run<Result>(work: () => Promise<Result>): Promise<Result> {
    works += 1
    const result = last.then(work)
    // A failure belongs to the caller.
    last = result.catch(() => undefined)
    try {
      return await result
    } finally {
      works -= 1
    }
  }

  return {
    run,
    tryRun: async work => (works < worksMax ? await run(work) : 'full'),
    idle: async () => {
      await last
    },
  }
}
