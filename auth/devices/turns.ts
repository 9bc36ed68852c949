/** Lets one piece of work run at a time, in the order in which they were asked for. */

export interface Turns {
  /** Resolves as the work does, or to `full` where too many wait already. */
  take<Result>(work: () => Promise<Result>): Promise<Result | 'full'>
  /** Resolves when all that was asked for is done. */
  idle(): Promise<void>
}

export function createTurns(waitingMax: number): Turns {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  async function take<Result>(work: () => Promise<Result>): Promise<Result | 'full'> {
    if (waiting >= waitingMax) return 'full'
    waiting += 1
    const turn = last.then(work)
    // The next one runs whether this one succeeded or not; its failure belongs to the one who asked.
    last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      waiting -= 1
    }
  }

  return {
    take,
    idle: async () => {
      await last
    },
  }
}
