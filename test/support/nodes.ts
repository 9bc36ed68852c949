/** Nodes of one service in processes of their own, on one PostgreSQL. */

import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedSecrets } from '../../store/shared-secrets.ts'
import { type TestHooks, temporaryFolder } from './databases.ts'
import { type Service, type ServiceSettings, startService, withoutQuestdb } from './service.ts'
import { startTcpPostgres } from './tcp-postgres.ts'

/** Long enough for a slow machine, on which no node is to lose its lease by itself. */
export const leaseSeconds = 10
const nodeProcess: NonNullable<ServiceSettings['command']> = [process.execPath, 'test/support/node-process.ts']
/** Nothing listens there. */
const publicUrl = 'http://localhost:1'

export interface NodeCluster {
  postgres: Awaited<ReturnType<typeof startTcpPostgres>>
  start(environment?: Record<string, string>): Promise<Service>
}

export function makeSecrets(t: TestHooks): string {
  const folder = join(temporaryFolder(t), 'secrets')
  mkdirSync(folder)
  for (const name of sharedSecrets) writeFileSync(join(folder, name), randomBytes(32).toString('hex'))
  return folder
}

/** `command` starts a node, `environment` belongs to one. */
export async function openCluster(
  t: TestHooks,
  { command = nodeProcess, environment: common = {} }: Pick<ServiceSettings, 'command' | 'environment'> = {},
): Promise<NodeCluster> {
  const postgres = await startTcpPostgres(t)
  const shared = {
    ...withoutQuestdb,
    DATABASE_URL: postgres.url,
    PUBLIC_URL: publicUrl,
    SECRETS_DIR: makeSecrets(t),
    NODE_LEASE_SECONDS: String(leaseSeconds),
    READS: 'private',
    SIGN_UP: 'open',
    AIR_QUALITY_HTTP: 'allow',
    ...common,
  }
  return {
    postgres,
    start: environment =>
      startService(t, {
        environment: { ...shared, ...environment },
        command,
      }),
  }
}
