/** The figures of a row of the matrix, and of all rows. */

import { cpus, release, totalmem } from 'node:os'
import { type Verdict, type ViolationName, violationNames } from './oracle.ts'

export interface Tally {
  row: string
  /** Processes that were killed, by the harness or at a named point. */
  crashes: number
  acknowledged: number
  unknown: number
  unknownStored: number
  violations: Record<ViolationName, number>
  /** Times from a kill of the service to the next 200. */
  recoveriesMs: number[]
  /** Clusters only: from the end of the last fault until all acknowledged rows are readable at each process. */
  shownMs: number[]
  problems: string[]
  notes: string[]
}

export function createTally(row: string): Tally {
  return {
    row,
    crashes: 0,
    acknowledged: 0,
    unknown: 0,
    unknownStored: 0,
    violations: { lost: 0, duplicated: 0, phantom: 0, wrong: 0, leaked: 0, disordered: 0, stale: 0, undead: 0 },
    recoveriesMs: [],
    shownMs: [],
    problems: [],
    notes: [],
  }
}

/** All routes show the same rows. */
export function addVerdicts(tally: Tally, verdicts: readonly Verdict[]): void {
  tally.acknowledged += verdicts[0]?.acknowledged ?? 0
  tally.unknown += verdicts[0]?.unknown ?? 0
  tally.unknownStored += verdicts[0]?.unknownStored ?? 0
  for (const { violations } of verdicts)
    for (const name of violationNames) tally.violations[name] += violations[name].length
}

function sumOf(tallies: readonly Tally[], row: string): Tally {
  const sum = createTally(row)
  for (const tally of tallies) {
    for (const name of ['crashes', 'acknowledged', 'unknown', 'unknownStored'] as const) sum[name] += tally[name]
    for (const name of violationNames) sum.violations[name] += tally.violations[name]
    sum.recoveriesMs.push(...tally.recoveriesMs)
    sum.shownMs.push(...tally.shownMs)
    sum.problems.push(...tally.problems)
    sum.notes.push(...tally.notes)
  }
  return sum
}

export function isClean({ violations, problems }: Tally): boolean {
  return problems.length === 0 && violationNames.every(name => violations[name] === 0)
}

function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

const columns = ['crashes', 'acknowledged', ...violationNames, 'other', 'p50 ms', 'p99 ms'] as const

export function tableOf(tallies: readonly Tally[], whats: ReadonlyMap<string, string>): string {
  const head = ['row', ...columns, 'what']
  const lines = [...tallies, sumOf(tallies, 'all')].map(tally => [...cellsOf(tally), whats.get(tally.row) ?? ''])
  const widths = head.map((name, index) => Math.max(name.length, ...lines.map(line => line[index]?.length ?? 0)))
  const format = (cells: string[]) =>
    cells
      .map((cell, index) => (index === head.length - 1 ? cell : cell.padStart(widths[index] ?? 0)))
      .join('  ')
      .trimEnd()
  return [format(head), ...lines.map(format)].join('\n')
}

function cellsOf(tally: Tally): string[] {
  const { row, crashes, acknowledged, violations, problems, recoveriesMs } = tally
  const counts = [crashes, acknowledged, ...violationNames.map(name => violations[name]), problems.length]
  const recovery = [0.5, 0.99].map(share => {
    const ms = percentile(recoveriesMs, share)
    return ms === undefined ? '-' : String(Math.round(ms))
  })
  return [row, ...counts.map(String), ...recovery]
}

/** The probability of a loss after a run without one: with 95 % confidence less than 3/n for each crash. */
export function summaryOf(tallies: readonly Tally[], seed: number, elapsedMs: number): string {
  const { crashes, acknowledged, unknown, unknownStored, recoveriesMs, shownMs } = sumOf(tallies, 'all')
  const bound = crashes === 0 ? 'none' : `${((3 / crashes) * 100).toFixed(2)} % for each crash (3/${crashes}, 95 %)`
  const [p50, p99] = [percentile(recoveriesMs, 0.5), percentile(recoveriesMs, 0.99)]
  const [processor] = cpus()
  return [
    `crashes ${crashes}, acknowledged ${acknowledged}, without an answer ${unknown} (of those stored ${unknownStored})`,
    `recovery of the service, kill to first 200: p50 ${Math.round(p50 ?? 0)} ms, p99 ${Math.round(p99 ?? 0)} ms, of ${recoveriesMs.length}`,
    ...(shownMs.length === 0 ? [] : [shownText(shownMs)]),
    `bound on the chance of a loss: ${bound}`,
    `hardware: ${cpus().length} × ${processor?.model ?? 'unknown'}, ${Math.round(totalmem() / 1024 ** 3)} GiB, Linux ${release()}`,
    `seed ${seed} (each experiment's is printed where it fails), ${Math.round(elapsedMs / 60_000)} minutes`,
  ].join('\n')
}

export function shownText(shownMs: readonly number[]): string {
  const [p50, max] = [percentile(shownMs, 0.5), Math.max(...shownMs)]
  return `last fault until all is shown: p50 ${Math.round(p50 ?? 0)} ms, at most ${max} ms, of ${shownMs.length}`
}
