/**
 * `npm run faults`: runs every row of the matrix and prints a table.
 *
 * `--rows 1a,2` selects rows, `--cycles 5` limits the cycles of each, `--seed 7` repeats a run. `--lanes 1` runs one row at a time
 * instead of two. `--broken` runs the broken builds, each of which must be detected.
 *
 * `npm run faults:cluster` adds `--cluster`: two api processes, two forwarders, two replicas, and three brokers, or one with
 * `--brokers 1`. `--faults 300` is the number of faults of the whole run.
 */

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { testCacheDirectory } from '../support/cache-directory.ts'
import { javaOptions } from '../support/java-options.ts'
import { brokenBuilds, runBrokenBuilds } from './broken-builds.ts'
import { brokenClusterBuilds } from './cluster/broken-builds.ts'
import { clusterMatrix } from './cluster/cluster-matrix.ts'
import type { Harness } from './experiment.ts'
import { createHooks } from './hooks.ts'
import { type MatrixRow, matrix as matrixOfService } from './matrix.ts'
import { createTally, isClean, shownText, summaryOf, type Tally, tableOf } from './tally.ts'
import { sourceFolder, startHarness } from './test-harness.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    cycles: { type: 'string' },
    seed: { type: 'string' },
    lanes: { type: 'string' },
    cluster: { type: 'boolean', default: false },
    brokers: { type: 'string', default: '3' },
    faults: { type: 'string' },
    broken: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const brokers = values.brokers === '1' ? 1 : 3
const matrix = values.cluster
  ? clusterMatrix(brokers, values.faults === undefined ? undefined : Number(values.faults))
  : matrixOfService
/** Three brokers use a whole machine. */
const lanesMax = Number(values.lanes ?? (values.cluster ? 1 : 2))
const say = (line: string) => void process.stdout.write(`${line}\n`)

/** Rows run in parallel lanes, each with separate databases. Most of a row's time is waiting. */
async function runMatrix(): Promise<boolean> {
  const startedMs = performance.now()
  const rows = values.rows?.split(',')
  const chosen = matrix.filter(({ row }) => rows === undefined || rows.some(name => row === name || isPart(row, name)))
  const waiting = [...chosen].sort((a, b) => b.minutes - a.minutes)
  const tallies = new Map(chosen.map(({ row }) => [row, createTally(row)]))
  const lanes = Array.from({ length: Math.min(lanesMax, chosen.length) }, async (_, lane) => {
    const own = openLane(`lane-${lane + 1}`)
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await runRow(own, next, tallies.get(next.row) ?? createTally(next.row))
    }
  })
  await Promise.all(lanes)
  const all = [...tallies.values()]
  const whats = new Map(matrix.map(({ row, what }) => [row, what]))
  say(`\n${tableOf(all, whats)}\n\n${summaryOf(all, seed, performance.now() - startedMs)}`)
  return all.length > 0 && all.every(isClean)
}

async function runRow(lane: Lane, matrixRow: MatrixRow, tally: Tally): Promise<void> {
  const startedMs = performance.now()
  const { row, what, cycles } = matrixRow
  try {
    const given = [tally, seed * 1000, Math.min(cycles, Number(values.cycles ?? cycles))] as const
    await matrixRow.run(await lane(), ...given)
  } catch (error) {
    tally.problems.push(textOf(error))
  }
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  const { acknowledged, crashes, shownMs } = tally
  say(`row ${row}, ${what}: ${isClean(tally) ? 'clean' : 'NOT CLEAN'}, ${crashes} crashes, ${seconds} s`)
  say(`  ${acknowledged} acknowledged${shownMs.length === 0 ? '' : `, ${shownText(shownMs)}`}`)
  for (const problem of tally.problems) say(`  problem: ${problem}`)
  for (const note of new Set(tally.notes)) say(`  ${note}`)
}

const isPart = (row: string, name: string) => row.startsWith(name) && /^[a-z]$/.test(row.slice(name.length))

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? (error.stack ?? error.message) : `${error.message}: ${textOf(error.cause)}`
}

/** The databases start with the first row that needs them. */
type Lane = () => Promise<Harness>

function openLane(name: string): Lane {
  const own = join(folder, name)
  mkdirSync(own, { mode: 0o711 })
  let harness: Promise<Harness> | undefined
  return () => {
    harness ??= startHarness(hooks, { folder: own, source: sourceFolder, say }, values.cluster ? brokers : undefined)
    return harness
  }
}

// `exit` stops the child processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.env['JAVA_TOOL_OPTIONS'] = await javaOptions(process.env)
process.env['NODE_COMPILE_CACHE'] = join(testCacheDirectory(), 'compiled')
const hooks = createHooks()
const folder = mkdtempSync(join(tmpdir(), 'barograph-faults-'))
chmodSync(folder, 0o711)
let passed = false
try {
  say(`seed ${seed}, in ${folder}`)
  const builds = values.cluster ? brokenClusterBuilds(brokers) : brokenBuilds
  passed = await (values.broken ? runBrokenBuilds(await openLane('broken')(), seed * 1000, builds) : runMatrix())
} catch (error) {
  say(textOf(error))
} finally {
  await hooks.undo()
  if (passed) rmSync(folder, { recursive: true, force: true })
  else say(`ledgers and data are kept in ${folder}`)
}
process.exitCode = passed ? 0 : 1
