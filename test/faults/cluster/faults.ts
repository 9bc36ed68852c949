/** What happens to a cluster. Each fault is over when it resolves, and all processes run again. */

import { setTimeout as sleep } from 'node:timers/promises'
import { freeze } from '../../support/frozen.ts'
import { isRunning, until } from '../../support/processes.ts'
import type { ServiceProcess } from '../service-process.ts'
import type { ClusterBed } from './cluster-experiment.ts'
import type { FaultBroker } from './fault-kafka.ts'
import { holderOf, standbyOf } from './forwarders.ts'

export type Fault = (bed: ClusterBed) => Promise<void>

/** Longer than the lock of a shard outlasts its holder, with the wait for late requests behind it. */
const frozenMs = 13_000
const downMsMax = 3000
/** Longer than a group is sent again, after which its outcome is unknown. */
const swallowedMs = 36_000
const backlogMs = 4000
const latencyMs = 1500
/** The wait for late requests after the cut, and some requests behind it. */
const slowMs = 10_000

/** Where two happen at once they differ in what they are done to. */
export const faults = {
  'api killed': { target: 'api', run: bed => killService(bed, bed.service) },
  'api frozen': { target: 'api', run: bed => freezeProcess(bed, bed.service.pid()) },
  'api cut from a broker': { target: 'link', run: cutFromBroker },
  'holder killed': { target: 'forwarders', run: async bed => killService(bed, await holderOf(bed.forwarders)) },
  'holder frozen': {
    target: 'forwarders',
    run: async bed => freezeProcess(bed, (await holderOf(bed.forwarders)).pid()),
  },
  'standby killed': { target: 'forwarders', run: async bed => killService(bed, await standbyOf(bed.forwarders)) },
  'standby frozen': {
    target: 'forwarders',
    run: async bed => freezeProcess(bed, (await standbyOf(bed.forwarders)).pid()),
  },
  'holder frozen with a backlog': { target: 'forwarders', run: freezeWithBacklog },
  'QuestDB frozen, holder killed': { target: 'questdb', run: killBehindQuestdb },
  'leader killed': { target: 'brokers', run: async bed => killBrokers(bed, [await leaderOf(bed)]) },
  'broker killed': { target: 'brokers', run: bed => killBrokers(bed, anyBrokers(bed, 1)) },
  'leader frozen': { target: 'brokers', run: async bed => freezeBrokers(bed, [await leaderOf(bed)]) },
  'broker frozen': { target: 'brokers', run: bed => freezeBrokers(bed, anyBrokers(bed, 1)) },
  'two brokers killed': { target: 'brokers', run: bed => killBrokers(bed, anyBrokers(bed, 2)) },
  'two brokers frozen': { target: 'brokers', run: bed => freezeBrokers(bed, anyBrokers(bed, 2)) },
  'followers frozen, leader killed': { target: 'brokers', run: killAheadOfFollowers },
  'all brokers killed': { target: 'brokers', run: bed => killBrokers(bed, [...bed.kafka.brokers]) },
  'all brokers frozen': { target: 'brokers', run: bed => freezeBrokers(bed, [...bed.kafka.brokers]) },
  'answers of the brokers swallowed': { target: 'link', run: swallowAnswers },
  'PostgreSQL killed': { target: 'postgres', run: bed => bed.databases.kill('postgres') },
  'PostgreSQL frozen': { target: 'postgres', run: bed => freezeProcess(bed, bed.databases.pid('postgres')) },
  'QuestDB killed': { target: 'questdb', run: bed => bed.databases.kill('questdb') },
  'QuestDB frozen': { target: 'questdb', run: bed => freezeProcess(bed, bed.databases.pid('questdb')) },
} as const satisfies Record<string, { target: string; run: Fault }>

export type FaultName = keyof typeof faults

async function killService(bed: ClusterBed, service: ServiceProcess): Promise<void> {
  await service.end('SIGKILL')
  await sleep(bed.random.below(downMsMax))
  await startAgain(service)
}

/** A start fails where PostgreSQL or Kafka is away; whoever supervises it starts it again. */
async function startAgain(service: ServiceProcess): Promise<void> {
  await until('the process is started again', async () => {
    try {
      await service.start()
      return true
    } catch (error) {
      if (isRunning(service.pid())) throw error
      await sleep(500)
      return false
    }
  })
}

async function freezeProcess(bed: ClusterBed, pid: number): Promise<void> {
  const thaw = freeze(pid)
  bed.hooks.teardown(thaw)
  await sleep(frozenMs)
  thaw()
}

async function leaderOf({ kafka }: ClusterBed): Promise<FaultBroker> {
  let leader: FaultBroker | undefined
  await until('the topic has a leader', async () => {
    leader = await kafka.leader()
    return leader !== undefined
  })
  return leader as FaultBroker
}

function anyBrokers({ kafka, random }: ClusterBed, count: number): FaultBroker[] {
  return kafka.brokers
    .map(broker => ({ broker, rank: random.next() }))
    .toSorted((one, other) => one.rank - other.rank)
    .slice(0, count)
    .map(({ broker }) => broker)
}

async function killBrokers(bed: ClusterBed, brokers: FaultBroker[]): Promise<void> {
  await Promise.all(brokers.map(broker => broker.kill()))
  await sleep(bed.random.below(downMsMax))
  await Promise.all(brokers.map(broker => broker.start()))
}

async function freezeBrokers(bed: ClusterBed, brokers: FaultBroker[]): Promise<void> {
  const thaw = () => {
    for (const broker of brokers) broker.thaw()
  }
  bed.hooks.teardown(thaw)
  for (const broker of brokers) broker.freeze()
  await sleep(frozenMs)
  thaw()
}

/** What the leader alone has is lost with it: a reading that it acknowledged by itself would be, too. */
async function killAheadOfFollowers(bed: ClusterBed): Promise<void> {
  const leader = await leaderOf(bed)
  const followers = bed.kafka.brokers.filter(broker => broker !== leader)
  const thaw = () => {
    for (const follower of followers) follower.thaw()
  }
  bed.hooks.teardown(thaw)
  for (const follower of followers) follower.freeze()
  await sleep(backlogMs)
  await leader.kill()
  thaw()
  await until('a follower leads', async () => {
    const next = await bed.kafka.leader()
    return next !== undefined && next !== leader
  })
  await leader.start()
}

async function cutFromBroker({ kafka, random }: ClusterBed): Promise<void> {
  const { link } = kafka.brokers[random.below(kafka.brokers.length)] as FaultBroker
  if (random.chance(0.5)) link.trouble.refuses = true
  else link.trouble = { ...link.trouble, silent: true }
  link.cut()
  await sleep(frozenMs)
  link.calm()
}

/** Groups are stored, and the api process is not told. */
async function swallowAnswers({ kafka }: ClusterBed): Promise<void> {
  for (const { link } of kafka.brokers) link.trouble.silent = true
  await sleep(swallowedMs)
  for (const { link } of kafka.brokers) link.calm()
}

/**
 * Over a slow link there are always rows that wait for the request in flight. When the holder goes on, that is answered, another process
 * has sent the rows, and newer ones for the same times.
 */
async function freezeWithBacklog(bed: ClusterBed): Promise<void> {
  const holder = await holderOf(bed.forwarders)
  const { trouble } = holder.link
  trouble.latencyMs = latencyMs
  holder.link.cut()
  await sleep(slowMs)
  const thaw = freeze(holder.pid())
  bed.hooks.teardown(thaw)
  // Of the connections that there are: a new one would be waited for.
  trouble.latencyMs = 0
  await holderOf(bed.forwarders)
  await sleep(frozenMs)
  thaw()
}

/** What it has read is not applied: its successor has to read it again. */
async function killBehindQuestdb(bed: ClusterBed): Promise<void> {
  const thaw = freeze(bed.databases.pid('questdb'))
  bed.hooks.teardown(thaw)
  await sleep(backlogMs)
  const holder = await holderOf(bed.forwarders)
  await holder.end('SIGKILL')
  thaw()
  await startAgain(holder)
}
