/** Row 5: power cuts, on a disk in memory that keeps a random part of what was not synced. */

import { runPowerLoss } from '../power-loss.ts'
import type { Harness } from '../stand.ts'
import type { Tally } from '../tally.ts'

/** One cycle is one seed. Its cuts are none of a process, so they do not count for the bound. */
export async function cutPower(_harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  const { crashes, acknowledged, failedSeeds, ...counts } = runPowerLoss(cycles, seed)
  tally.notes.push(
    `${cycles} seeds from ${seed}: ${crashes} simulated power cuts and kills, ${acknowledged} acknowledged`,
  )
  tally.faults.lost += counts.lost
  tally.faults.duplicated += counts.duplicated
  tally.faults.phantom += counts.phantom
  tally.faults.wrong += counts.wrong
  tally.faults.disordered += counts.disordered
  if (counts.restamped > 0) tally.complaints.push(`${counts.restamped} stamps were given out twice`)
  if (counts.mistrusted > 0) tally.complaints.push(`${counts.mistrusted} files were synced again after a failed sync`)
  if (failedSeeds.length > 0) tally.complaints.push(`seeds ${failedSeeds.join(', ')} failed`)
}
