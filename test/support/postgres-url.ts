/** The address of a pool's PostgreSQL, as DATABASE_URL and `connectionString` take it. */

import type pg from 'pg'

/** A socket's folder stands in place of the host, encoded. */
export function postgresUrl({ options }: pg.Pool): string {
  const { user, password, host = '', port, database } = options
  return `postgresql://${user}:${password}@${encodeURIComponent(host)}:${port}/${database}`
}
