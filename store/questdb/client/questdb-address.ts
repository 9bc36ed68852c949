/** The address of a QuestDB: plain data, so that it can be posted to worker threads. */

import { StartError } from '../../start-error.ts'

export interface QuestdbHttp {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** The value of the Authorization header. */
  readonly authorization: string | undefined
}

/** Address of its PostgreSQL protocol. */
export interface QuestdbPg {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

export interface QuestdbAddress {
  readonly http: QuestdbHttp
  readonly pg: QuestdbPg
}

export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

/** Reads QUESTDB_HTTP and QUESTDB_PG. */
export function parseQuestdbAddress(questdbHttp: string | undefined, questdbPg: string | undefined): QuestdbAddress {
  if (questdbHttp === undefined || questdbPg === undefined) {
    throw new StartError('QUESTDB_HTTP and QUESTDB_PG must be set together; without them a managed QuestDB is started.')
  }
  const http = parseUrl('QUESTDB_HTTP', questdbHttp, ['http:', 'https:'], 'http://user:password@host:9000')
  const pg = parseUrl('QUESTDB_PG', questdbPg, ['postgresql:', 'postgres:'], 'postgresql://user:password@host:8812/qdb')
  const tls = http.protocol === 'https:'
  const user = decodeURIComponent(http.username)
  return {
    http: {
      host: hostOf(http),
      // A URL omits the default port of its protocol.
      port: Number(http.port || (tls ? 443 : 80)),
      tls,
      authorization: user === '' ? undefined : basicAuthorization(user, decodeURIComponent(http.password)),
    },
    pg: {
      host: hostOf(pg),
      port: Number(pg.port || 8812),
      user: decodeURIComponent(pg.username) || 'admin',
      password: decodeURIComponent(pg.password) || 'quest',
      database: pg.pathname.slice(1) || 'qdb',
    },
  }
}

function parseUrl(setting: string, text: string, protocols: readonly string[], example: string): URL {
  const url = URL.parse(text)
  // The text is not repeated, since it may contain a password.
  if (url === null || !protocols.includes(url.protocol) || url.hostname === '') {
    throw new StartError(`${setting} is not a valid address: it should look like ${example}.`)
  }
  return url
}

/** A URL has brackets around an IPv6 address. A socket does not. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}
