/** Separates work that changes whole days from long work that reads or rewrites them. */

import { bug } from '../../../store/limits/bug.ts'

export interface SharedLock {
  /** Runs with other shared work; waits for exclusive work, which is short. */
  shared<Result>(work: () => Promise<Result>): Promise<Result>
  /** False at once while there is other work. */
  tryExclusive(work: () => Promise<void>): Promise<boolean>
}

export function createSharedLock(): SharedLock {
  let sharedCount = 0
  let exclusive: Promise<unknown> | undefined
  return {
    async shared(work) {
      while (exclusive !== undefined) await exclusive
      sharedCount++
      try {
        return await work()
      } finally {
        sharedCount--
      }
    },
    async tryExclusive(work) {
      if (sharedCount > 0 || exclusive !== undefined) return false
      const done = work()
      exclusive = done.then(
        () => undefined,
        () => undefined,
      )
      try {
        await done
        if (sharedCount > 0) throw bug(`${sharedCount} pieces of work ran beside one that excludes them`)
        return true
      } finally {
        exclusive = undefined
      }
    },
  }
}
