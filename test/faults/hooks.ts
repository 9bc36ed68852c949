/** Teardown for a part of a run, in reverse order. Each hook runs even if another one fails. */

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
