/** PostgreSQL as the rest knows it, given or started here: a pool on a schema that is up to date. */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './free-port.ts'
import type { Log } from './log.ts'
import { migrate, migrationsFolder } from './migrations.ts'
import { monitorPostgres } from './postgres-monitor.ts'
import { startPostgres, stopPostgresLeftBehind } from './postgres-server.ts'
import { StartError } from './start-error.ts'
import type { StoreOptions } from './store.ts'

export interface OpenPostgres {
  pool: pg.Pool
  version: string
  /** Why it does not answer; undefined while it does. */
  fault(): string | undefined
  close(): Promise<void>
}

const connectTimeoutMs = 5000
const givenWaitMs = 10_000
const statementTimeoutMs = 10_000
/** PostgreSQL ends a statement by itself; one that is frozen does not, and is given up a little later. */
const answerTimeoutMs = statementTimeoutMs + 2000
const connectionsMax = 10
const poolEndMs = 500

export async function openPostgres(options: StoreOptions, signal: AbortSignal): Promise<OpenPostgres> {
  const { databaseUrl, directory, environment, log } = options
  await stopPostgresLeftBehind(directory, log)
  const serverOptions = { directory, environment, log, signal, choosePort: freePort }
  const server = databaseUrl === undefined ? await startPostgres(serverOptions) : undefined
  try {
    const config = server === undefined ? { connectionString: databaseUrl ?? '' } : server.address
    const version = await migrateSchema(config, options, signal)
    const pool = openPool(config, log)
    const monitor = monitorPostgres(pool)
    log.info({ version }, 'PostgreSQL is up')
    const close = async (): Promise<void> => {
      monitor.close()
      if (!pool.ending) await Promise.race([pool.end(), sleep(poolEndMs, undefined, { ref: false })])
      await server?.close()
    }
    return { pool, version, fault: monitor.fault, close }
  } catch (error) {
    await server?.close()
    throw error
  }
}

async function migrateSchema(config: pg.ClientConfig, options: StoreOptions, signal: AbortSignal): Promise<string> {
  const client = await connect(config, options.databaseUrl, signal)
  try {
    await migrate(client, options.migrationsFolder ?? migrationsFolder, options.log)
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    return rows[0]?.server_version ?? ''
  } finally {
    await client.end()
  }
}

/** One that is only not there yet is waited for a little: services are often started side by side. */
async function connect(config: pg.ClientConfig, given: string | undefined, signal: AbortSignal): Promise<pg.Client> {
  const deadlineMs = performance.now() + givenWaitMs
  for (;;) {
    signal.throwIfAborted()
    const client = new pg.Client({
      ...config,
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: 'barograph',
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => undefined)
      if (!mayPass(error) || performance.now() > deadlineMs) throw cannotUse(client, given, error)
      await sleep(200)
    }
  }
}

/** Refused, reset or just starting; a wrong name or password stays wrong. */
function mayPass(error: unknown): boolean {
  const { code } = error as { code?: string }
  const starting = '57P03'
  return code === starting || code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === 'EAI_AGAIN'
}

function cannotUse({ host, port, database }: pg.Client, given: string | undefined, error: unknown): StartError {
  const { message, code } = error as { message: string; code?: string }
  const why = message || code || 'no answer'
  return new StartError(
    given === undefined
      ? `Our own PostgreSQL refuses us (${why}): the secret "postgres" may not be the one it was made with; restore it.`
      : `PostgreSQL at ${host}:${port}, database ${database}, cannot be used (${why}): start it there, or correct DATABASE_URL.`,
  )
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
  // A connection that breaks while it idles is replaced; without a listener it would end the process. Only the text is
  // logged, for the error carries the whole connection with it.
  pool.on('error', error => {
    if (!pool.ending) log.warn({ reason: error.message }, 'a PostgreSQL connection broke')
  })
  return pool
}
