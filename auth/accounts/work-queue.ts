/**
 * Runs a few works at a time, lets a few more wait, and refuses the rest: a password hash takes 19 MiB and some ten
 * milliseconds of a processor.
 */

import { TooBusy } from '../too-busy.ts'

export interface WorkQueue {
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

export function createWorkQueue({ runningMax, waitingMax }: { runningMax: number; waitingMax: number }): WorkQueue {
  let running = 0
  const waiting: (() => void)[] = []

  function finish(): void {
    const next = waiting.shift()
    // The place is handed on, so that nobody who comes now gets it first.
    if (next === undefined) running--
    else next()
  }

  return {
    async run(work) {
      if (running < runningMax) running++
      else if (waiting.length >= waitingMax) throw new TooBusy('too many requests wait', 1)
      else await new Promise<void>(resolve => waiting.push(resolve))
      try {
        return await work()
      } finally {
        finish()
      }
    },
  }
}
