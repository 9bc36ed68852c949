/** The faults of a cluster with how often each happens in a whole run, and how one of them happens. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../seeded-random.ts'
import type { ClusterBed } from './cluster-experiment.ts'
import { changeableDevice, type FaultName, faults } from './faults.ts'
import { holderOf } from './forwarders.ts'

interface ClusterRow {
  name: FaultName
  cycles: number
  /** Three brokers are needed, or it is another fault with one. */
  isOfThree?: boolean
  /** So many shards are needed. */
  shardsMin?: number
  /** What it takes, about. */
  seconds: number
}

const rows: readonly ClusterRow[] = [
  { name: 'api killed', cycles: 30, seconds: 8 },
  { name: 'both apis killed', cycles: 12, seconds: 8 },
  { name: 'api frozen, passwords changed', cycles: 6, seconds: 15 },
  { name: 'api cut from PostgreSQL, passwords changed', cycles: 6, seconds: 15 },
  { name: 'api cut from a broker', cycles: 6, seconds: 15 },
  { name: 'holder killed', cycles: 20, seconds: 12 },
  { name: 'holder frozen', cycles: 6, seconds: 20 },
  { name: 'holder frozen with a backlog', cycles: 3, seconds: 30 },
  { name: 'standby killed', cycles: 8, seconds: 10 },
  { name: 'standby frozen', cycles: 2, seconds: 15 },
  { name: 'leader killed', cycles: 8, seconds: 25, isOfThree: true },
  { name: 'broker killed', cycles: 10, seconds: 25, isOfThree: true },
  { name: 'leader frozen', cycles: 3, seconds: 20, isOfThree: true },
  { name: 'broker frozen', cycles: 3, seconds: 20, isOfThree: true },
  { name: 'two brokers killed', cycles: 3, seconds: 30, isOfThree: true },
  { name: 'two brokers frozen', cycles: 2, seconds: 25, isOfThree: true },
  { name: 'followers frozen, leader killed', cycles: 3, seconds: 30, isOfThree: true },
  { name: 'all brokers killed', cycles: 8, seconds: 30 },
  { name: 'all brokers frozen', cycles: 2, seconds: 20 },
  { name: 'answers of the brokers swallowed', cycles: 1, seconds: 50 },
  { name: 'PostgreSQL killed', cycles: 14, seconds: 10 },
  { name: 'PostgreSQL frozen', cycles: 2, seconds: 20 },
  { name: 'QuestDB killed', cycles: 14, seconds: 10 },
  { name: 'QuestDB frozen', cycles: 2, seconds: 20 },
  { name: 'QuestDB frozen, holder killed', cycles: 3, seconds: 20 },
  { name: 'QuestDB of shard 2 killed', cycles: 14, seconds: 10, shardsMin: 2 },
  { name: 'QuestDB of shard 2 frozen', cycles: 2, seconds: 20, shardsMin: 2 },
  { name: 'QuestDB of shard 3 killed', cycles: 6, seconds: 10, shardsMin: 3 },
  { name: 'QuestDB of shard 3 frozen', cycles: 2, seconds: 20, shardsMin: 3 },
]

export function rowsOf(brokers: number, shards: number): ClusterRow[] {
  return rows.filter(({ isOfThree = false, shardsMin = 1 }) => (brokers === 3 || !isOfThree) && shards >= shardsMin)
}

/** Before each fault, at most. */
const restMsMax = 2500

export async function rest({ random }: ClusterBed): Promise<void> {
  await sleep(200 + random.below(restMsMax))
}

/** Each shard is forwarded. */
export async function untilHeld(bed: ClusterBed): Promise<void> {
  for (let shard = 1; shard <= shardCountOf(bed); shard++) await holderOf(bed.forwarders, shard)
}

export async function happen(bed: ClusterBed, name: FaultName): Promise<void> {
  bed.noteCrash()
  bed.counts.set(name, (bed.counts.get(name) ?? 0) + 1)
  await faults[name].run(bed)
}

/** Of any kind: one, or two at once, and now and then a changed password before. */
export async function happenAny(bed: ClusterBed, index: number): Promise<void> {
  if (index % 3 === 1) await bed.revoke(changeableDevice(bed))
  const first = anyFault(bed)
  const second = anyFault(bed)
  const isPair = bed.random.chance(0.3) && faults[first].target !== faults[second].target
  await Promise.all([happen(bed, first), ...(isPair ? [happen(bed, second)] : [])])
}

function anyFault(bed: ClusterBed): FaultName {
  return pick(bed.random, rowsOf(bed.kafka.brokers.length, shardCountOf(bed))).name
}

const shardCountOf = ({ databases }: ClusterBed): number => 1 + databases.furtherQuestdbs.length

const pick = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)] as T
