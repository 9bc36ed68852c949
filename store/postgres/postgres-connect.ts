/** A connection to PostgreSQL outside the pool, and the sentence for a failed one. */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'
import { errorCode, isNotReady } from './postgres-errors.ts'

export interface ConnectOptions {
  config: pg.ClientConfig
  /** The address comes from DATABASE_URL, so the remedy names it. */
  external: boolean
  signal?: AbortSignal
  log: Log
}

export const connectTimeoutMs = 5000
const startWaitMs = 10_000
const retryMs = 200

/** Retries for a while when the server is not ready: services are often started side by side. Rejects with a sentence. */
export async function connectWithRetry(options: ConnectOptions): Promise<pg.Client> {
  const deadlineMs = performance.now() + startWaitMs
  for (let attempt = 1; ; attempt++) {
    options.signal?.throwIfAborted()
    const client = makeClient(options.config)
    try {
      await client.connect()
      return client
    } catch (error) {
      await client.end().catch(() => undefined)
      const sentence = connectFailure(client, options.external, error)
      if (!isNotReady(error) || performance.now() > deadlineMs) throw new StartError(sentence)
      if (attempt === 1) options.log.warn({}, `${sentence} Trying again for ${startWaitMs / 1000} s.`)
      await sleep(retryMs)
    }
  }
}

/** Statements report its errors. An idle connection breaks silently and emits `end`. */
export function makeClient(config: pg.ClientConfig): pg.Client {
  const client = new pg.Client({
    application_name: 'barograph',
    ...config,
    connectionTimeoutMillis: connectTimeoutMs,
  })
  client.on('error', () => undefined)
  return client
}

const startOrCorrect = 'start it, or correct DATABASE_URL'
/** Remedies by SQLSTATE or the operating system's error code. */
const remedies = new Map([
  ['28P01', 'correct the user or the password in DATABASE_URL'],
  ['28000', 'correct the user in DATABASE_URL, or allow it in pg_hba.conf'],
  ['3D000', 'create the database (CREATE DATABASE), or correct DATABASE_URL'],
  ['42501', 'grant this user privileges on the database (GRANT), or correct DATABASE_URL'],
  ['53300', 'raise max_connections, or close other clients'],
  ['ENOTFOUND', 'correct the host in DATABASE_URL'],
  ['EAI_AGAIN', 'correct the host in DATABASE_URL, or fix name resolution'],
])

/** A sentence without credentials. */
export function connectFailure({ host, port, database }: pg.Client, external: boolean, error: unknown): string {
  const { message } = error as Error
  const code = errorCode(error)
  const why = message || code || 'no answer'
  return external
    ? `PostgreSQL at ${host}:${port}, database ${database}, cannot be used (${why}): ${remedies.get(code) ?? startOrCorrect}.`
    : `The managed PostgreSQL cannot be used (${why}): the secret "postgres" may differ from the one at its creation; restore it.`
}
