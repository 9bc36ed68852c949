/** The two api processes of an experiment, each with a way of its own to PostgreSQL. */

import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestHooks } from '../../support/databases.ts'
import { type Databases, settingsFor } from '../databases.ts'
import type { Harness, TestBed } from '../experiment.ts'
import { startPostgresLink } from '../postgres-link.ts'
import { createServiceProcess, type ServiceProcess } from '../service-process.ts'
import type { TcpProxy } from '../tcp-proxy.ts'
import type { FaultKafka } from './fault-kafka.ts'

export interface ApiProcess extends ServiceProcess {
  /** Its way to PostgreSQL. */
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
  harness: Harness,
  { databases, folder, hooks, proxy, service }: TestBed,
  { link, environment }: ApiSettings,
  port: number,
): Promise<ApiProcess> {
  const dataDirectory = join(folder, 'api-2')
  const secrets = join(service.dataDirectory, 'secrets')
  mkdirSync(join(dataDirectory, 'secrets'), { recursive: true, mode: 0o700 })
  copyFileSync(join(secrets, 'admin-token'), join(dataDirectory, 'secrets', 'admin-token'))
  const beside = createServiceProcess(hooks, {
    source: harness.source,
    port,
    dataDirectory,
    environment: { ...settingsFor(databases, proxy.port), ...environment, SECRETS_DIR: secrets },
    words: apiWords,
  })
  await beside.start()
  return { ...beside, link }
}
