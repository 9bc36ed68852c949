/** What a test's teardown is, for a part of a run: undone in the reverse order, and all of it even when a piece fails. */

import type { TestHooks } from '../support/databases.ts'

export interface Hooks extends TestHooks {
  undo(): Promise<void>
}

export function createHooks(): Hooks {
  const works: (() => unknown)[] = []
  return {
    teardown: work => void works.push(work),
    async undo() {
      for (const work of works.splice(0).reverse()) {
        try {
          await work()
        } catch (error) {
          process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
        }
      }
    },
  }
}
