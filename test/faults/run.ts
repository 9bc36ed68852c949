/**
 * `npm run faults`: every row of the matrix, and a table at its end.
 *
 * `--rows 1a,2` chooses rows, `--cycles 5` bounds the cycles of each, `--seed 7` repeats a run, `--broken` runs the
 * deliberately broken builds instead, each of which has to be found out.
 */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { runBrokenBuilds } from './broken-builds.ts'
import { startFaultDatabases } from './databases.ts'
import { createHooks } from './hooks.ts'
import { matrix } from './matrix.ts'
import type { Harness } from './stand.ts'
import { summaryOf, tableOf } from './table.ts'
import { createTally, isClean, type Tally } from './tally.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    cycles: { type: 'string' },
    seed: { type: 'string' },
    broken: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const say = (line: string) => void process.stdout.write(`${line}\n`)

async function runMatrix(harness: Harness): Promise<boolean> {
  const startedMs = performance.now()
  const rows = values.rows?.split(',')
  const chosen = matrix.filter(({ row }) => rows === undefined || rows.some(name => row === name || isPart(row, name)))
  const tallies: Tally[] = []
  for (const { row, what, cycles, run } of chosen) {
    const tally = createTally(row)
    tallies.push(tally)
    const rowStartedMs = performance.now()
    try {
      await run(harness, tally, seed * 1000, Math.min(cycles, Number(values.cycles ?? cycles)))
    } catch (error) {
      tally.complaints.push(textOf(error))
    }
    const seconds = Math.round((performance.now() - rowStartedMs) / 1000)
    say(`row ${row}, ${what}: ${isClean(tally) ? 'clean' : 'NOT CLEAN'}, ${tally.crashes} crashes, ${seconds} s`)
    for (const complaint of tally.complaints) say(`  complaint: ${complaint}`)
    for (const note of new Set(tally.notes)) say(`  ${note}`)
  }
  const whats = new Map(matrix.map(({ row, what }) => [row, what]))
  say(`\n${tableOf(tallies, whats)}\n\n${summaryOf(tallies, seed, performance.now() - startedMs)}`)
  return tallies.length > 0 && tallies.every(isClean)
}

/** `1` stands for `1a` and `1b`. */
const isPart = (row: string, name: string) => row.startsWith(name) && /^[a-z]$/.test(row.slice(name.length))

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? (error.stack ?? error.message) : `${error.message}: ${textOf(error.cause)}`
}

const hooks = createHooks()
const folder = mkdtempSync(join(tmpdir(), 'barograph-faults-'))
chmodSync(folder, 0o711)
let passed = false
try {
  say(`seed ${seed}, in ${folder}`)
  const databases = await startFaultDatabases(hooks, folder)
  const harness = { databases, folder, source: resolve(import.meta.dirname, '..', '..'), say }
  passed = await (values.broken ? runBrokenBuilds(harness, seed * 1000) : runMatrix(harness))
} catch (error) {
  say(textOf(error))
} finally {
  await hooks.undo()
  if (passed) rmSync(folder, { recursive: true, force: true })
  else say(`ledgers and data are kept in ${folder}`)
}
process.exitCode = passed ? 0 : 1
