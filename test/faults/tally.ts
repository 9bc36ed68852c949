/** The figures of a row of the matrix, and of all. */

import { type FaultName, faultNames, type Verdict } from './oracle.ts'

export interface Tally {
  row: string
  /** Processes that were killed, by us or by themselves at a named point. */
  crashes: number
  acknowledged: number
  unknown: number
  unknownStored: number
  faults: Record<FaultName, number>
  /** From a kill of the service to the first 200 behind it. */
  recoveriesMs: number[]
  /** What else was not as it should be. */
  complaints: string[]
  /** Figures that the row is about. */
  notes: string[]
}

export function createTally(row: string): Tally {
  return {
    row,
    ...{ crashes: 0, acknowledged: 0, unknown: 0, unknownStored: 0 },
    faults: { lost: 0, duplicated: 0, phantom: 0, wrong: 0, leaked: 0, disordered: 0, stale: 0, undead: 0 },
    ...{ recoveriesMs: [], complaints: [], notes: [] },
  }
}

export function addVerdict(tally: Tally, verdict: Verdict): void {
  tally.acknowledged += verdict.acknowledged
  tally.unknown += verdict.unknown
  tally.unknownStored += verdict.unknownStored
  addFaults(tally, verdict)
}

/** Of the other route, which sees the same readings. */
export function addFaults(tally: Tally, { faults }: Verdict): void {
  for (const name of faultNames) tally.faults[name] += faults[name].length
}

export function sumOf(tallies: readonly Tally[], row: string): Tally {
  const sum = createTally(row)
  for (const tally of tallies) {
    sum.crashes += tally.crashes
    sum.acknowledged += tally.acknowledged
    sum.unknown += tally.unknown
    sum.unknownStored += tally.unknownStored
    for (const name of faultNames) sum.faults[name] += tally.faults[name]
    sum.recoveriesMs.push(...tally.recoveriesMs)
    sum.complaints.push(...tally.complaints)
    sum.notes.push(...tally.notes)
  }
  return sum
}

export function isClean({ faults, complaints }: Tally): boolean {
  return complaints.length === 0 && faultNames.every(name => faults[name] === 0)
}

export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
