/** The harness in a test. Its files are removed at the end, unless a problem was found. */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { TestHooks } from '../support/databases.ts'
import { startFaultKafka } from './cluster/fault-kafka.ts'
import { startFaultDatabases } from './databases.ts'
import type { Harness, Run, Surroundings } from './experiment.ts'
import { createTally, isClean, type Tally } from './tally.ts'

export interface TestHarness {
  /** Runs a row with a printed seed. */
  run(row: string, cycles: number, work: Run<Harness>): Promise<Tally>
}

interface Test extends TestHooks {
  comment(text: string): void
}

/** `fixedSeed`: the seed of every row, instead of a random one. `brokers`: stores journals in topics. */
export async function startTestHarness(t: Test, fixedSeed?: number, brokers?: 1 | 3): Promise<TestHarness> {
  const folder = mkdtempSync(join(tmpdir(), 'barograph-faults-'))
  chmodSync(folder, 0o711)
  const found = new Set<Tally>()
  t.teardown(() => {
    if (found.size > 0) t.comment(`ledgers and data are kept in ${folder}`)
    else rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const say = (line: string) => t.comment(line)
  const harness = await startHarness(t, { folder, source: sourceFolder, say }, brokers)
  return {
    async run(row, cycles, work) {
      const tally = createTally(row)
      const seed = fixedSeed ?? Date.now() % 1_000_000_000
      t.comment(`${row}: seed ${seed}`)
      // A tally counts as found until its run ends without a problem.
      found.add(tally)
      await work(harness, tally, seed, cycles)
      if (isClean(tally)) found.delete(tally)
      return tally
    },
  }
}

export const sourceFolder = resolve(import.meta.dirname, '..', '..')

/** The journals are on disk if `brokers` is undefined. */
export async function startHarness(hooks: TestHooks, surroundings: Surroundings, brokers?: 1 | 3): Promise<Harness> {
  const { folder } = surroundings
  const databases = await startFaultDatabases(hooks, folder, brokers === undefined ? 1 : 2)
  const kafka = brokers === undefined ? {} : { kafka: await startFaultKafka(hooks, folder, brokers) }
  return { ...surroundings, databases, ...kafka }
}
