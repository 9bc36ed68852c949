/** Faults of a cluster. Each function resolves when its fault is over and all processes run again. */

import { setTimeout as sleep } from 'node:timers/promises'
import { freeze } from '../../support/frozen.ts'
import { freezeFor } from '../rows/questdb.ts'
import type { ServiceProcess } from '../service-process.ts'
import {
  anyBrokers,
  cutFromBroker,
  downMsMax,
  frozenMs,
  killAheadOfFollowers,
  leaderOf,
  swallowAnswers,
} from './broker-faults.ts'
import type { ClusterBed } from './cluster-experiment.ts'
import type { FaultBroker } from './fault-kafka.ts'
import {
  type ApiProcess,
  holderOf,
  killUntilAgain,
  replicaNumbers,
  standbyOf,
  startAgain,
  type Victim,
} from './processes.ts'
import {
  anyReplica,
  deleteDisk,
  freezeWithBacklog,
  killBehindQuestdb,
  questdbOf,
  rebuildReplica,
} from './replica-faults.ts'

const revocationsBeside = 5

type Victims = (bed: ClusterBed) => Victim[] | Promise<Victim[]>

const kill = (_bed: ClusterBed, victims: readonly Victim[]) => killUntilAgain(victims)
const freezeAll = async (bed: ClusterBed, victims: readonly Victim[]) =>
  void (await Promise.all(victims.map(({ pid }) => freezeFor(bed, pid(), frozenMs))))

const anyApi = ({ apis, random }: ClusterBed): ApiProcess => random.pick(apis)
const victimOf = (bed: ClusterBed, service: ServiceProcess): Victim => {
  return { pid: service.pid, kill: () => killService(bed, service) }
}
const oneApi: Victims = bed => [victimOf(bed, anyApi(bed))]
const bothApis: Victims = bed => bed.apis.map(api => victimOf(bed, api))
const holder: Victims = async bed => [victimOf(bed, await holderOf(bed.forwarders, anyReplica(bed)))]
const standby: Victims = async bed => [victimOf(bed, await standbyOf(bed.forwarders, anyReplica(bed)))]
const leader: Victims = async bed => [brokerOf(bed, await leaderOf(bed))]
const brokers = (count: number): Victims => {
  return bed => anyBrokers(bed, count).map(broker => brokerOf(bed, broker))
}
const postgres: Victims = ({ databases: { kill, pid } }) => [
  { pid: () => pid('postgres'), kill: () => kill('postgres') },
]
const questdb: Victims = bed => [questdbOf(bed, anyReplica(bed))]
const bothQuestdbs: Victims = bed => replicaNumbers.map(replica => questdbOf(bed, replica))

function brokerOf({ random }: ClusterBed, broker: FaultBroker): Victim {
  return {
    pid: broker.pid,
    async kill() {
      await broker.kill()
      await sleep(random.below(downMsMax))
      await broker.start()
    },
  }
}

export type Target = 'api' | 'link' | 'forwarders' | 'brokers' | 'postgres' | 'questdb'

/** `cycles`: occurrences in a whole run besides the mixes. A cluster with fewer brokers than `needs` would have a different fault. */
type ClusterFault = readonly [
  target: Target,
  cycles: number,
  run: (bed: ClusterBed, victims: readonly Victim[]) => Promise<void>,
  victims?: Victims,
  needs?: { brokers: 3 },
]
const none: Victims = () => []

export const faults = {
  'api killed': ['api', 8, kill, oneApi],
  'both apis killed': ['api', 4, kill, bothApis],
  'api frozen, passwords changed': ['api', 4, freezeAndRevoke],
  'api cut from PostgreSQL, passwords changed': ['api', 4, cutAndRevoke],
  'api cut from a broker': ['link', 4, cutFromBroker],
  'holder killed': ['forwarders', 6, kill, holder],
  'holder frozen': ['forwarders', 3, freezeAll, holder],
  'holder frozen with a backlog': ['forwarders', 2, freezeWithBacklog],
  'standby killed': ['forwarders', 3, kill, standby],
  'standby frozen': ['forwarders', 1, freezeAll, standby],
  'leader killed': ['brokers', 4, kill, leader, { brokers: 3 }],
  'broker killed': ['brokers', 4, kill, brokers(1), { brokers: 3 }],
  'leader frozen': ['brokers', 2, freezeAll, leader, { brokers: 3 }],
  'broker frozen': ['brokers', 2, freezeAll, brokers(1), { brokers: 3 }],
  'two brokers killed': ['brokers', 2, kill, brokers(2), { brokers: 3 }],
  'two brokers frozen': ['brokers', 1, freezeAll, brokers(2), { brokers: 3 }],
  'followers frozen, leader killed': ['brokers', 2, killAheadOfFollowers, none, { brokers: 3 }],
  'all brokers killed': ['brokers', 4, kill, brokers(3)],
  'all brokers frozen': ['brokers', 1, freezeAll, brokers(3)],
  'answers of the brokers swallowed': ['link', 1, swallowAnswers],
  'PostgreSQL killed': ['postgres', 6, kill, postgres],
  'PostgreSQL frozen': ['postgres', 2, freezeAll, postgres],
  'QuestDB killed': ['questdb', 5, kill, questdb],
  'both QuestDBs killed': ['questdb', 3, kill, bothQuestdbs],
  'QuestDB frozen': ['questdb', 2, freezeAll, questdb],
  'both QuestDBs frozen': ['questdb', 2, freezeAll, bothQuestdbs],
  'QuestDB frozen, holder killed': ['questdb', 2, killBehindQuestdb],
  'disk of QuestDB deleted': ['questdb', 4, deleteDisk],
  'disk of QuestDB deleted, replica made again': ['questdb', 6, rebuildReplica],
} as const satisfies Record<string, ClusterFault>

export type FaultName = keyof typeof faults

async function killService(bed: ClusterBed, service: ServiceProcess): Promise<void> {
  await service.end('SIGKILL')
  await sleep(bed.random.below(downMsMax))
  await startAgain(service)
}

/** Revokes at the other process while requests with the old passwords wait in the sockets of the frozen process. */
async function freezeAndRevoke(bed: ClusterBed): Promise<void> {
  const api = anyApi(bed)
  const thaw = freeze(api.pid())
  bed.hooks.teardown(thaw)
  await revokeBeside(bed, api)
  await sleep(frozenMs)
  thaw()
}

/** Revokes at the other process while the disconnected process still has a lease. */
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

/** The last devices are reserved for erases and imports. */
export const changeableDevice = (bed: ClusterBed): string => bed.anyDevice(12)

export function faultsOf(brokers: number): FaultName[] {
  return (Object.keys(faults) as FaultName[]).filter(name => {
    const [, , , , needs]: ClusterFault = faults[name]
    return brokers >= (needs?.brokers ?? 1)
  })
}

const restMsMax = 2500

export async function rest({ random }: ClusterBed): Promise<void> {
  await sleep(200 + random.below(restMsMax))
}

export async function untilHeld(bed: ClusterBed): Promise<void> {
  for (const replica of replicaNumbers) await holderOf(bed.forwarders, replica)
}

export async function happen(bed: ClusterBed, name: FaultName): Promise<void> {
  bed.noteCrash()
  bed.counts.set(name, (bed.counts.get(name) ?? 0) + 1)
  const [, , run, victims = none]: ClusterFault = faults[name]
  await run(bed, await victims(bed))
}
