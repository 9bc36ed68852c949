/** The rows of `npm run faults:cluster`: one for each fault, and random mixes of them. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { ShardCount } from '../databases.ts'
import type { Harness } from '../experiment.ts'
import type { MatrixRow } from '../matrix.ts'
import { devicesOf } from '../rows/erase.ts'
import type { Random } from '../seeded-random.ts'
import type { Tally } from '../tally.ts'
import { type ClusterBed, clusterExperiment } from './cluster-experiment.ts'
import { changeableDevice, type FaultName, faults } from './faults.ts'
import { holderOf } from './forwarders.ts'

interface ClusterRow {
  name: FaultName
  cycles: number
  /** Three brokers are needed, or it is another fault with one. */
  isOfThree?: boolean
  /** Two shards are needed. */
  isOfShards?: boolean
  /** What it takes, about. */
  seconds: number
}

const rows: ClusterRow[] = [
  { name: 'api killed', cycles: 20, seconds: 8 },
  { name: 'both apis killed', cycles: 6, seconds: 8 },
  { name: 'api frozen, passwords changed', cycles: 4, seconds: 15 },
  { name: 'api cut from PostgreSQL, passwords changed', cycles: 4, seconds: 15 },
  { name: 'api cut from a broker', cycles: 4, seconds: 15 },
  { name: 'holder killed', cycles: 10, seconds: 12 },
  { name: 'holder frozen', cycles: 3, seconds: 20 },
  { name: 'holder frozen with a backlog', cycles: 3, seconds: 30 },
  { name: 'standby killed', cycles: 3, seconds: 10 },
  { name: 'standby frozen', cycles: 2, seconds: 15 },
  { name: 'leader killed', cycles: 4, seconds: 25, isOfThree: true },
  { name: 'broker killed', cycles: 6, seconds: 25, isOfThree: true },
  { name: 'leader frozen', cycles: 3, seconds: 20, isOfThree: true },
  { name: 'broker frozen', cycles: 3, seconds: 20, isOfThree: true },
  { name: 'two brokers killed', cycles: 3, seconds: 30, isOfThree: true },
  { name: 'two brokers frozen', cycles: 2, seconds: 25, isOfThree: true },
  { name: 'followers frozen, leader killed', cycles: 3, seconds: 30, isOfThree: true },
  { name: 'all brokers killed', cycles: 5, seconds: 30 },
  { name: 'all brokers frozen', cycles: 2, seconds: 20 },
  { name: 'answers of the brokers swallowed', cycles: 1, seconds: 50 },
  { name: 'PostgreSQL killed', cycles: 6, seconds: 10 },
  { name: 'PostgreSQL frozen', cycles: 2, seconds: 20 },
  { name: 'QuestDB killed', cycles: 6, seconds: 10 },
  { name: 'QuestDB frozen', cycles: 2, seconds: 20 },
  { name: 'QuestDB frozen, holder killed', cycles: 3, seconds: 20 },
  { name: 'QuestDB of shard 2 killed', cycles: 6, seconds: 10, isOfShards: true },
  { name: 'QuestDB of shard 2 frozen', cycles: 2, seconds: 20, isOfShards: true },
]

function rowsOf(brokers: number, shards: number): ClusterRow[] {
  return rows.filter(({ isOfThree = false, isOfShards = false }) => {
    return (brokers === 3 || !isOfThree) && (shards > 1 || !isOfShards)
  })
}

/** Each behind which everything is judged. */
const faultsPerExperiment = 10
const restMsMax = 2500

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
    { row: 'mix', what: 'random mixes', cycles: 30, minutes: 15, run: mixFaults },
    { row: 'erase', what: 'erased and revoked meanwhile', cycles: 6, minutes: 3, run: eraseMeanwhile },
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

/** One at a time or two at once, of any kind. */
async function mixFaults(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  await inExperiments(harness, tally, seed, cycles, async (bed, index) => {
    if (index % 3 === 1) await bed.revoke(changeableDevice(bed))
    const first = anyFault(bed)
    const second = anyFault(bed)
    const isPair = bed.random.chance(0.3) && faults[first].target !== faults[second].target
    await Promise.all([happen(bed, first), ...(isPair ? [happen(bed, second)] : [])])
  })
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
        await sleep(200 + bed.random.below(restMsMax))
        await fault(bed, index)
        for (let shard = 1; shard <= shardCountOf(bed); shard++) await holderOf(bed.forwarders, shard)
      }
    })
  }
}

async function happen(bed: ClusterBed, name: FaultName): Promise<void> {
  bed.noteCrash()
  bed.counts.set(name, (bed.counts.get(name) ?? 0) + 1)
  await faults[name].run(bed)
}

function anyFault(bed: ClusterBed): FaultName {
  return pick(bed.random, rowsOf(bed.kafka.brokers.length, shardCountOf(bed))).name
}

const shardCountOf = ({ databases }: ClusterBed): number => 1 + databases.furtherQuestdbs.length

const pick = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)] as T
