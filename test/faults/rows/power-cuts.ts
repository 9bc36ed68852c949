/** Row 5: power cuts, on a disk in memory that keeps a random part of what was not synced. */

import type { Harness } from '../experiment.ts'
import { runPowerLoss } from '../power-loss.ts'
import type { Tally } from '../tally.ts'

/** So many in one turn of the event loop, on which the proxies of other rows depend. */
const seedsAtOnce = 10

/** One cycle is one seed. Its cuts are none of a process, so they do not count for the bound. */
export async function cutPower(_harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  let crashes = 0
  let acknowledged = 0
  for (let done = 0; done < cycles; done += seedsAtOnce) {
    const result = runPowerLoss(Math.min(seedsAtOnce, cycles - done), seed + done)
    crashes += result.crashes
    acknowledged += result.acknowledged
    add(tally, result)
    await new Promise(resolve => setImmediate(resolve))
  }
  tally.notes.push(
    `${cycles} seeds from ${seed}: ${crashes} simulated power cuts and kills, ${acknowledged} acknowledged`,
  )
}

function add({ violations, problems }: Tally, counts: ReturnType<typeof runPowerLoss>): void {
  violations.lost += counts.lost
  violations.duplicated += counts.duplicated
  violations.phantom += counts.phantom
  violations.wrong += counts.wrong
  violations.disordered += counts.disordered
  if (counts.restamped > 0) problems.push(`${counts.restamped} stamps were given out twice`)
  if (counts.offClock > 0) problems.push(`${counts.offClock} stamps did not follow the clock`)
  if (counts.resynced > 0) problems.push(`${counts.resynced} files were synced again after a failed sync`)
  if (counts.failedSeeds.length > 0) problems.push(`seeds ${counts.failedSeeds.join(', ')} failed`)
}
