/**
 * The processes of an experiment: two api processes, each with a separate link to PostgreSQL and a preferred replica, and two
 * forwarders. Each replica has one active forwarder. The other one stands by.
 */

import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestHooks } from '../../support/databases.ts'
import { isRunning, until } from '../../support/processes.ts'
import { type Databases, settingsFor, startPostgresLink } from '../databases.ts'
import type { TestBed } from '../experiment.ts'
import type { ServiceProcess } from '../service-process.ts'
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts'
import type { FaultKafka } from './fault-kafka.ts'

export interface ApiProcess extends ServiceProcess {
  link: TcpProxy
}

export const apiWords = ['--role', 'api']

export interface ApiSettings {
  link: TcpProxy
  environment: Record<string, string>
}

/** The settings of an api process besides its databases. */
export async function apiSettings(
  hooks: TestHooks,
  databases: Databases,
  kafka: FaultKafka,
  publicUrl: string,
  replica: ReplicaNumber,
): Promise<ApiSettings> {
  const { link, url } = await startPostgresLink(hooks, databases)
  const own = { DATABASE_URL: url, PUBLIC_URL: publicUrl, QUESTDB_READ: String(replica) }
  return { link, environment: { ...kafka.settings.api, ...own } }
}

/** Shares the secrets of the running service, so each process accepts the credentials issued by the other. */
export async function startBeside(
  { another, databases, folder, proxy, service }: TestBed,
  { link, environment }: ApiSettings,
  port: number,
): Promise<ApiProcess> {
  const dataDirectory = join(folder, 'api-2')
  const secrets = join(service.dataDirectory, 'secrets')
  mkdirSync(join(dataDirectory, 'secrets'), { recursive: true, mode: 0o700 })
  copyFileSync(join(secrets, 'admin-token'), join(dataDirectory, 'secrets', 'admin-token'))
  const beside = await another({
    port,
    dataDirectory,
    environment: { ...settingsFor(databases, proxy.port), ...environment, SECRETS_DIR: secrets },
    words: apiWords,
  })
  await beside.start()
  return { ...beside, link }
}

export const replicaNumbers = [1, 2] as const
export type ReplicaNumber = (typeof replicaNumbers)[number]

export interface Forwarder extends ServiceProcess {
  /** Links to the QuestDB of each replica. */
  links: Record<ReplicaNumber, TcpProxy>
}

/** A process that is killed and restarted, or frozen and resumed. */
export interface Victim {
  pid(): number
  kill(): Promise<void>
}

/** Resolves when all run again. A database is restarted by its supervisor, and has no recorded pid for a moment. */
export async function killUntilAgain(victims: readonly Victim[]): Promise<void> {
  const killed = victims.map(({ pid }) => pid())
  await Promise.all(victims.map(victim => victim.kill()))
  const isAgain = ({ pid }: Victim, at: number) => {
    try {
      return pid() !== killed[at] && isRunning(pid())
    } catch {
      return false
    }
  }
  await until('killed processes run again', () => victims.every(isAgain))
}

/** Retries like a supervisor, since a start fails while PostgreSQL or Kafka is unavailable. */
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

/** A frozen process does not respond. */
const answerMs = 2000

export async function startForwarders(
  kafka: FaultKafka,
  bed: TestBed,
  environment: Readonly<Record<string, string>>,
): Promise<Forwarder[]> {
  const forwarders: Forwarder[] = []
  for (const name of ['forwarder-1', 'forwarder-2']) {
    const { questdb, second } = bed.databases
    const links = {
      1: await startTcpProxy(bed.hooks, questdb.http.port, bed.random),
      2: await startTcpProxy(bed.hooks, second?.address.http.port ?? 0, bed.random),
    }
    const service = await bed.another({
      dataDirectory: join(bed.folder, name),
      environment: {
        ...settingsFor(bed.databases, links[1].port, links[2].port),
        ...kafka.settings.forward,
        ...environment,
      },
      words: ['--role', 'forward'],
    })
    await service.start()
    forwarders.push({ ...service, links })
  }
  return forwarders
}

/** Waits until one of the forwarders holds the lock of the replica. */
export async function holderOf(forwarders: readonly Forwarder[], replica: ReplicaNumber): Promise<Forwarder> {
  let holder: Forwarder | undefined
  await until('a forwarder forwards', async () => {
    for (const forwarder of forwarders) if (await isHolder(forwarder, replica)) holder = forwarder
    return holder !== undefined
  })
  return holder as Forwarder
}

export async function standbyOf(forwarders: readonly Forwarder[], replica: ReplicaNumber): Promise<Forwarder> {
  const holder = await holderOf(forwarders, replica)
  return forwarders.find(forwarder => forwarder !== holder) as Forwarder
}

async function isHolder(forwarder: Forwarder, replica: ReplicaNumber): Promise<boolean> {
  if (!isRunning(forwarder.pid())) return false
  try {
    const response = await fetch(`http://127.0.0.1:${forwarder.port}/metrics`, {
      headers: { authorization: `Bearer ${forwarder.adminToken()}` },
      signal: AbortSignal.timeout(answerMs),
    })
    return (await response.text()).includes(`\nbarograph_forwarder_held{replica="${replica}"} 1\n`)
  } catch {
    return false
  }
}
