/** What happens to a cluster. Each fault is over when it resolves, and all processes run again. */

import { setTimeout as sleep } from 'node:timers/promises'
import { freeze } from '../../support/frozen.ts'
import { isRunning, until } from '../../support/processes.ts'
import type { FaultQuestdb } from '../fault-questdb.ts'
import type { ServiceProcess } from '../service-process.ts'
import type { ApiProcess } from './api-processes.ts'
import {
  anyBrokers,
  cutFromBroker,
  downMsMax,
  freezeBrokers,
  frozenMs,
  killAheadOfFollowers,
  killBrokers,
  leaderOf,
  swallowAnswers,
} from './broker-faults.ts'
import type { ClusterBed } from './cluster-experiment.ts'
import { holderOf, standbyOf } from './forwarders.ts'

export type Fault = (bed: ClusterBed) => Promise<void>

const backlogMs = 4000
const latencyMs = 1500
const revocationsBeside = 5
/** The wait for late requests after the cut, and some requests behind it. */
const slowMs = 10_000

/** Where two happen at once they differ in what they are done to. */
export const faults = {
  'api killed': { target: 'api', run: bed => killService(bed, anyApi(bed)) },
  'both apis killed': {
    target: 'api',
    run: async bed => void (await Promise.all(bed.apis.map(api => killService(bed, api)))),
  },
  'api frozen, passwords changed': { target: 'api', run: freezeAndRevoke },
  'api cut from PostgreSQL, passwords changed': { target: 'api', run: cutAndRevoke },
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
  'QuestDB of shard 2 killed': { target: 'questdb-2', run: bed => questdbOf(bed, 2).kill() },
  'QuestDB of shard 2 frozen': { target: 'questdb-2', run: bed => freezeProcess(bed, questdbOf(bed, 2).pid()) },
  'QuestDB of shard 3 killed': { target: 'questdb-3', run: bed => questdbOf(bed, 3).kill() },
  'QuestDB of shard 3 frozen': { target: 'questdb-3', run: bed => freezeProcess(bed, questdbOf(bed, 3).pid()) },
} as const satisfies Record<string, { target: string; run: Fault }>

export type FaultName = keyof typeof faults

const anyApi = ({ apis, random }: ClusterBed): ApiProcess => apis[random.below(apis.length)] as ApiProcess

function questdbOf({ databases: { furtherQuestdbs } }: ClusterBed, shard: number): FaultQuestdb {
  const questdb = furtherQuestdbs[shard - 2]
  if (questdb === undefined) throw new Error(`there is no shard ${shard}`)
  return questdb
}

async function killService(bed: ClusterBed, service: ServiceProcess): Promise<void> {
  await service.end('SIGKILL')
  await sleep(bed.random.below(downMsMax))
  await startAgain(service)
}

/** A start fails where PostgreSQL or Kafka is away; whoever supervises it starts it again. */
export async function startAgain(service: ServiceProcess): Promise<void> {
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

/** At the other one, while requests with the old passwords wait in the sockets of the frozen one. */
async function freezeAndRevoke(bed: ClusterBed): Promise<void> {
  const api = anyApi(bed)
  const thaw = freeze(api.pid())
  bed.hooks.teardown(thaw)
  await revokeBeside(bed, api)
  await sleep(frozenMs)
  thaw()
}

/** At the other one, while the one that is cut off still has a lease. */
async function cutAndRevoke(bed: ClusterBed): Promise<void> {
  const api = anyApi(bed)
  api.link.trouble.silent = true
  api.link.cut()
  await revokeBeside(bed, api)
  await sleep(frozenMs)
  api.link.calm()
}

async function revokeBeside(bed: ClusterBed, without: ApiProcess): Promise<void> {
  const other = bed.apis.find(api => api !== without) as ApiProcess
  for (let count = 0; count < revocationsBeside; count++) await bed.revoke(changeableDevice(bed), other)
}

/** Neither the one that is busy nor those of the end, which are erased or of the imports. */
export function changeableDevice({ devices, random }: ClusterBed): string {
  const [first, ...others] = devices.slice(1, -12)
  if (first === undefined) throw new Error('there are too few devices')
  return random.pick([first, ...others]).name
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
