/** The figures of a row of the matrix, and of all. */

import { type Verdict, type ViolationName, violationNames } from './oracle.ts'

export interface Tally {
  row: string
  /** Processes that were killed, by us or by themselves at a named point. */
  crashes: number
  acknowledged: number
  unknown: number
  unknownStored: number
  violations: Record<ViolationName, number>
  /** From a kill of the service to the first 200 behind it. */
  recoveriesMs: number[]
  /** Of a cluster, from the end of the last fault of an experiment until all that was taken can be read at each process. */
  shownMs: number[]
  /** What else was not as it should be. */
  problems: string[]
  /** Figures that the row is about. */
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

export function addVerdict(tally: Tally, verdict: Verdict): void {
  tally.acknowledged += verdict.acknowledged
  tally.unknown += verdict.unknown
  tally.unknownStored += verdict.unknownStored
  addViolations(tally, verdict)
}

/** Of the other route, which sees the same readings. */
export function addViolations(tally: Tally, { violations }: Verdict): void {
  for (const name of violationNames) tally.violations[name] += violations[name].length
}

export function sumOf(tallies: readonly Tally[], row: string): Tally {
  const sum = createTally(row)
  for (const tally of tallies) {
    sum.crashes += tally.crashes
    sum.acknowledged += tally.acknowledged
    sum.unknown += tally.unknown
    sum.unknownStored += tally.unknownStored
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

export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
