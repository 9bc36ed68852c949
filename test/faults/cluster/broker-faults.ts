/** Faults of the brokers, and of the link between the api process and the brokers. */

import { setTimeout as sleep } from 'node:timers/promises'
import { freeze } from '../../support/frozen.ts'
import { until } from '../../support/processes.ts'
import type { ClusterBed } from './cluster-experiment.ts'
import type { FaultBroker } from './fault-kafka.ts'

/** A killed process is restarted within this time. */
export const downMsMax = 3000
/** This exceeds the lock of a replica plus the wait for late requests, and the session of a broker. */
export const frozenMs = 13_000
/** This exceeds the time in which a group is retried. After it, the outcome of the group is unknown. */
const swallowedMs = 36_000
/** Readings are acknowledged in this time, or would be. */
const aheadMs = 4000

export async function leaderOf({ kafka }: ClusterBed): Promise<FaultBroker> {
  let leader: FaultBroker | undefined
  await until('the topic has a leader', async () => {
    leader = await kafka.leader()
    return leader !== undefined
  })
  return leader as FaultBroker
}

export function anyBrokers({ kafka, random }: ClusterBed, count: number): FaultBroker[] {
  return kafka.brokers
    .map(broker => ({ broker, rank: random.next() }))
    .toSorted((one, other) => one.rank - other.rank)
    .slice(0, count)
    .map(({ broker }) => broker)
}

/** The leader's unreplicated records are lost with it. A reading acknowledged by the leader alone would be lost, too. */
export async function killAheadOfFollowers(bed: ClusterBed): Promise<void> {
  const leader = await leaderOf(bed)
  const followers = bed.kafka.brokers.filter(broker => broker !== leader)
  const thaws = followers.map(broker => freeze(broker.pid()))
  for (const thaw of thaws) bed.hooks.teardown(thaw)
  await sleep(aheadMs)
  await leader.kill()
  for (const thaw of thaws) thaw()
  await until('a follower leads', async () => {
    const next = await bed.kafka.leader()
    return next !== undefined && next !== leader
  })
  await leader.start()
}

export async function cutFromBroker({ kafka, random }: ClusterBed): Promise<void> {
  const { link } = random.pick(kafka.brokers)
  if (random.chance(0.5)) link.trouble.refuses = true
  else link.trouble = { ...link.trouble, silent: true }
  link.cut()
  await sleep(frozenMs)
  link.calm()
}

/** Groups are stored, but the api process gets no response. */
export async function swallowAnswers({ kafka }: ClusterBed): Promise<void> {
  for (const { link } of kafka.brokers) link.trouble.silent = true
  await sleep(swallowedMs)
  for (const { link } of kafka.brokers) link.calm()
}
