/**
 * The processes of an experiment: two api processes, each with a way of its own to PostgreSQL, and two forwarders, of which one
 * forwards, and the other one stands by.
 */

import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
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

/** What a process that takes requests has beside the settings of its databases. */
export async function apiSettings(
  hooks: TestHooks,
  databases: Databases,
  kafka: FaultKafka,
  publicUrl: string,
): Promise<ApiSettings> {
  const { link, url } = await startPostgresLink(hooks, databases)
  return { link, environment: { ...kafka.settings.api, DATABASE_URL: url, PUBLIC_URL: publicUrl } }
}

/** With the secrets of the service that runs, so that either takes what the other one has given out. */
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

export interface Forwarder extends ServiceProcess {
  link: TcpProxy
}

/** A frozen one gives no answer. */
const answerMs = 2000

export async function startForwarders(
  kafka: FaultKafka,
  bed: TestBed,
  environment: Readonly<Record<string, string>>,
): Promise<Forwarder[]> {
  const forwarders: Forwarder[] = []
  for (const name of ['forwarder-1', 'forwarder-2']) {
    const link = await startTcpProxy(bed.hooks, bed.databases.questdb.http.port, bed.random)
    const service = await bed.another({
      dataDirectory: join(bed.folder, name),
      environment: { ...settingsFor(bed.databases, link.port), ...kafka.settings.forward, ...environment },
      words: ['--role', 'forward'],
    })
    await service.start()
    forwarders.push({ ...service, link })
  }
  return forwarders
}

/** Waits until one of them forwards. */
export async function holderOf(forwarders: readonly Forwarder[]): Promise<Forwarder> {
  let holder: Forwarder | undefined
  await until('a forwarder forwards', async () => {
    for (const forwarder of forwarders) if (await isHolder(forwarder)) holder = forwarder
    return holder !== undefined
  })
  return holder as Forwarder
}

export async function standbyOf(forwarders: readonly Forwarder[]): Promise<Forwarder> {
  const holder = await holderOf(forwarders)
  return forwarders.find(forwarder => forwarder !== holder) as Forwarder
}

async function isHolder(forwarder: Forwarder): Promise<boolean> {
  if (!isRunning(forwarder.pid())) return false
  try {
    const response = await fetch(`http://127.0.0.1:${forwarder.port}/metrics`, {
      headers: { authorization: `Bearer ${forwarder.adminToken()}` },
      signal: AbortSignal.timeout(answerMs),
    })
    return (await response.text()).includes('\nbarograph_forwarder_held 1\n')
  } catch {
    return false
  }
}
