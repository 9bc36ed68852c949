/** The databases of a store as the settings of a service that uses them as external ones. */

import type pg from 'pg'
import type { QuestdbAddress } from '../../../store/questdb/client/questdb-address.ts'

/** The address of a pool's PostgreSQL, as DATABASE_URL and `connectionString` take it. */
export function postgresUrl({ options }: pg.Pool): string {
  const { user, password, host = '', port, database } = options
  // A socket's folder stands in place of the host, encoded.
  return `postgresql://${user}:${password}@${encodeURIComponent(host)}:${port}/${database}`
}

/** `httpPort`: port of a proxy in front of QuestDB. */
export function questdbSettings({ http, pg }: QuestdbAddress, httpPort: number = http.port): Record<string, string> {
  const credentials = Buffer.from((http.authorization ?? '').slice(6), 'base64').toString()
  return {
    QUESTDB_HTTP: `http://${credentials}@127.0.0.1:${httpPort}`,
    QUESTDB_PG: `postgresql://${pg.user}:${pg.password}@${pg.host}:${pg.port}/${pg.database}`,
  }
}
