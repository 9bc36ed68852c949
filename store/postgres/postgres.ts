/** PostgreSQL, external or managed: a pool on a migrated schema. */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'
import type { StoreOptions } from '../store-options.ts'
import { type DatabaseLock, type LockMode, lockDatabase } from './database-lock.ts'
import { migrate, migrationsFolder, pendingMigrations } from './migrations.ts'
import { connectFailure, connectTimeoutMs, connectWithRetry, makeClient } from './postgres-connect.ts'
import { startPostgres, stopPostgresLeftBehind } from './postgres-server.ts'

export interface OpenPostgres {
  pool: pg.Pool
  version: string
  /** Reason why it does not answer. Undefined while it does. */
  fault(): string | undefined
  /** A separate connection without time limits. */
  connect(): Promise<pg.Client>
  close(): Promise<void>
}

const statementTimeoutMs = 10_000
/** PostgreSQL ends a statement itself. A frozen one does not, and its statement is abandoned a little later. */
const answerTimeoutMs = statementTimeoutMs + 2000
const connectionsMax = 10
const poolEndMs = 500

export async function openPostgres(options: StoreOptions, signal: AbortSignal): Promise<OpenPostgres> {
  const { databaseUrl, directory, environment, log } = options
  await stopPostgresLeftBehind(directory, log)
  const server = databaseUrl === undefined ? await startPostgres({ directory, environment, log, signal }) : undefined
  const external = server === undefined
  const config = server === undefined ? { connectionString: databaseUrl ?? '' } : server.address
  let client: pg.Client | undefined
  let lock: DatabaseLock | undefined
  try {
    client = await connectWithRetry({ config, external, signal, log })
    lock = await lockFor(client, options, config)
    const version = await migrateSchema(client, options)
    if (options.lock?.mode === 'shared') await lock?.share()
    if (options.lock === undefined) await lock?.close()
    const pool = openPool(config, log)
    const monitor = monitorPostgres(pool)
    log.info({ version }, 'PostgreSQL is up')
    const close = async (): Promise<void> => {
      monitor.close()
      if (!pool.ending) await Promise.race([pool.end(), sleep(poolEndMs, undefined, { ref: false })])
      await lock?.close()
      await server?.close()
    }
    const connect = async (): Promise<pg.Client> => {
      const made = makeClient(config)
      await made.connect()
      return made
    }
    return { pool, version, fault: monitor.fault, connect, close }
  } catch (error) {
    await lock?.close()
    await server?.close()
    if (client === undefined || !(error instanceof pg.DatabaseError)) throw error
    throw new StartError(connectFailure(client, external, error))
  } finally {
    await client?.end().catch(() => undefined)
  }
}

/**
 * Takes the lock before looking at the schema, which another service may be using. A node that has to migrate takes it
 * exclusively: nodes of the previous version do not know the new schema.
 */
async function lockFor(
  client: pg.Client,
  { lock, migratesAlone = false, migrationsFolder: folder = migrationsFolder, log }: StoreOptions,
  config: pg.ClientConfig,
): Promise<DatabaseLock | undefined> {
  if (lock === undefined && !migratesAlone) return undefined
  const take = (mode: LockMode) =>
    lockDatabase({
      makeClient: name => makeClient({ ...config, application_name: name }),
      mode,
      onLost: lock?.onLost ?? (() => undefined),
      log,
    })
  const takeUsual = async () => (lock === undefined ? undefined : await take(lock.mode))
  if (lock?.mode === 'exclusive' || (await pendingMigrations(client, folder)).length === 0) return await takeUsual()
  try {
    return await take('exclusive')
  } catch (error) {
    // Another starting node may have migrated it meanwhile.
    const pending = await pendingMigrations(client, folder)
    if (pending.length === 0) return await takeUsual()
    if (!(error instanceof StartError)) throw error
    throw new StartError(`The schema of PostgreSQL is to be migrated (${pending.join(', ')}). ${error.message}`)
  }
}

async function migrateSchema(client: pg.Client, options: StoreOptions) {
  const { migrationsFolder: folder = migrationsFolder, lastMigration, log } = options
  await migrate(client, folder, log, lastMigration === undefined ? {} : { last: lastMigration })
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
  return rows[0]?.server_version ?? ''
}

function openPool(config: pg.PoolConfig, log: Log): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: answerTimeoutMs,
    application_name: 'barograph',
  })
  // An idle connection that breaks is replaced. Its error would end the process without a listener. Only the text is logged,
  // since the error carries the whole connection.
  pool.on('error', error => {
    if (!pool.ending) log.warn({ reason: error.message }, 'PostgreSQL connection lost')
  })
  return pool
}

interface PostgresMonitor {
  /** Reason why PostgreSQL is unavailable. Undefined while it is available. */
  fault(): string | undefined
  close(): void
}

const answerMsMax = 3000

/** Probes PostgreSQL periodically, so that readiness can be reported without waiting for it. */
export function monitorPostgres(pool: pg.Pool, probeMs = 2000): PostgresMonitor {
  let fault: string | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function probe(): Promise<void> {
    try {
      await pool.query({ text: 'SELECT 1', query_timeout: answerMsMax } as pg.QueryConfig)
      fault = undefined
    } catch (error) {
      fault = `PostgreSQL does not answer: ${error instanceof Error ? error.message || error.name : String(error)}`
    }
    if (!closed) plan()
  }

  function plan(): void {
    timer = setTimeout(() => void probe(), probeMs)
    timer.unref()
  }

  plan()
  return {
    fault: () => fault,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
