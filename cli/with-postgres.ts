/** A connection to the PostgreSQL of DATABASE_URL, for a command that asks it itself. */

import type pg from 'pg'
import type { Config } from '../service/settings/config.ts'
import { connectFailure, makeClient } from '../store/postgres/postgres-connect.ts'
import { CommandError } from './command-error.ts'

const queryTimeoutMs = 30_000

/** Ends statements after 30 seconds, unless the caller allows long ones. */
export async function withPostgres<Result>(
  { DATABASE_URL }: Pick<Config, 'DATABASE_URL'>,
  use: (client: pg.Client) => Promise<Result>,
  { takesLong = false } = {},
): Promise<Result> {
  if (DATABASE_URL === undefined) throw new CommandError('DATABASE_URL is not set, and several replicas need it')
  const limit = takesLong ? {} : { query_timeout: queryTimeoutMs }
  const client = makeClient({ connectionString: DATABASE_URL, ...limit })
  try {
    await client.connect()
  } catch (error) {
    await client.end().catch(() => undefined)
    throw new CommandError(connectFailure(client, true, error))
  }
  try {
    return await use(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}
