/** The rows of `npm run faults:cluster`: one for each fault, and random mixes of them; with two shards more than 300 faults. */

import type { ShardCount } from '../databases.ts'
import type { Harness } from '../experiment.ts'
import type { MatrixRow } from '../matrix.ts'
import { devicesOf } from '../rows/erase.ts'
import type { Tally } from '../tally.ts'
import { addShardMeanwhile } from './added-shard.ts'
import { type ClusterBed, clusterExperiment } from './cluster-experiment.ts'
import { happen, happenAny, rest, rowsOf, untilHeld } from './fault-rows.ts'
import { changeableDevice, type FaultName } from './faults.ts'

/** Each behind which everything is judged. */
const faultsPerExperiment = 10

export function clusterMatrix(brokers: 1 | 3, shards: ShardCount = 1): MatrixRow[] {
  const single = rowsOf(brokers, shards).map(({ name, cycles, seconds }, index) => ({
    row: `c${index + 1}`,
    what: name,
    cycles,
    minutes: (cycles * seconds) / 60,
    run: (harness: Harness, tally: Tally, seed: number, count: number) => runFault(harness, tally, seed, name, count),
  }))
  return [
    ...single,
    { row: 'mix', what: 'random mixes', cycles: 60, minutes: 30, run: mixFaults },
    { row: 'erase', what: 'erased and revoked meanwhile', cycles: 6, minutes: 3, run: eraseMeanwhile },
    {
      row: 'shard',
      what: 'a shard added meanwhile',
      cycles: 24,
      minutes: 12,
      startsDatabases: true,
      run: (...given) => addShardMeanwhile(brokers, shards, ...given),
    },
  ]
}

export async function runFault(
  harness: Harness,
  tally: Tally,
  seed: number,
  name: FaultName,
  cycles = 1,
): Promise<void> {
  await inExperiments(harness, tally, seed, cycles, bed => happen(bed, name))
}

/** One after the other, as they are listed. */
export async function runInTurn(
  harness: Harness,
  tally: Tally,
  seed: number,
  names: readonly FaultName[],
): Promise<void> {
  await inExperiments(harness, tally, seed, names.length, (bed, index) => happen(bed, names[index] as FaultName))
}

async function mixFaults(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  await inExperiments(harness, tally, seed, cycles, happenAny)
}

/** While one is erased, and the password of another one is changed, something else happens. */
async function eraseMeanwhile(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  const names = ['holder killed', 'holder frozen', 'api killed', 'QuestDB killed', 'broker killed', 'PostgreSQL killed']
  await inExperiments(harness, tally, seed, cycles, async (bed, index) => {
    const victims = devicesOf(bed)
    const name = victims.names.at(-2 - index) as string
    await victims.request(name)
    await bed.revoke(changeableDevice(bed))
    await happen(bed, names[index % names.length] as FaultName)
    await victims.untilErased(name)
  })
}

async function inExperiments(
  harness: Harness,
  tally: Tally,
  seed: number,
  cycles: number,
  fault: (bed: ClusterBed, index: number) => Promise<void>,
): Promise<void> {
  for (let done = 0; done < cycles; done += faultsPerExperiment) {
    await clusterExperiment(harness, { seed: seed + done, tally, importEveryMs: 2000 }, async bed => {
      for (let index = 0; index < Math.min(faultsPerExperiment, cycles - done); index++) {
        await rest(bed)
        await fault(bed, index)
        await untilHeld(bed)
      }
    })
  }
}
