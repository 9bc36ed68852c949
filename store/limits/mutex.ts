/** A mutex: runs one piece of work at a time, first in, first out. */

export interface Mutex {
  /** Settles with the work's result. The next work runs whether this one succeeded or not. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** Runs the work like `run`, but returns `full` while too many works are unfinished. */
  tryRun<Result>(work: () => Promise<Result>): Promise<Result | 'full'>
  /** Resolves when all requested work is done. */
  idle(): Promise<void>
}

/** `worksMax` limits `tryRun`. The callers of `run` limit their own work. */
export function createMutex(worksMax = Number.POSITIVE_INFINITY): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  let works = 0

  async function run<Result>(work: () => Promise<Result>): Promise<Result> {
    works += 1
    const result = last.then(work)
    // The caller handles a failure.
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
