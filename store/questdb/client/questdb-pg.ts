/** One connection to QuestDB over the PostgreSQL protocol, opened when first needed and again after it broke. */

import pg from 'pg'
import { createMutex } from '../../limits/mutex.ts'
import type { QuestdbPg } from './questdb-address.ts'
import { QuestdbError, questdbError } from './questdb-error.ts'

const int8Oid = 20
const float8Oid = 701
/** No Date parser: it costs more than the query. Times are selected as LONG and stay exact below 2^53. */
const types = { getTypeParser: (oid: number) => (oid === int8Oid || oid === float8Oid ? Number : String) }

export type PgRow = readonly (number | string | null)[]

export interface Statement {
  /** A named statement is prepared once per connection. Its text never changes. */
  readonly name?: string
  readonly text: string
  /** Never cast in the text: QuestDB takes a time as a number of microseconds, and rejects a cast bind. */
  readonly values: readonly (number | string)[]
}

export interface PgConnection {
  /**
   * Passes on the rows as they arrive and keeps none. Rejects with a QuestdbError. A connection executes one statement at a time,
   * so a call waits for earlier ones, whose failures do not affect it.
   */
  read(statement: Statement, signal: AbortSignal, onRow: (row: PgRow) => void): Promise<void>
  close(): Promise<void>
}

export interface PgTimeouts {
  readonly connectTimeoutMs: number
  /** QuestDB ends a statement after this time. */
  readonly statementTimeoutMs: number
}

function clientConfig(
  { host, port, user, password, database }: QuestdbPg,
  { connectTimeoutMs, statementTimeoutMs }: PgTimeouts,
): pg.ClientConfig {
  return {
    host,
    port,
    user,
    password,
    database,
    ssl: false,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    // QuestDB ignores the driver's own statement_timeout. Only the startup option counts.
    options: `-c statement_timeout=${statementTimeoutMs}`,
    types,
  }
}

export function createPgConnection(address: QuestdbPg, timeouts: PgTimeouts): PgConnection {
  let client: pg.Client | undefined
  const mutex = createMutex()

  async function connect(): Promise<pg.Client> {
    const made = new pg.Client(clientConfig(address, timeouts))
    // An idle connection reports its break here. Without a listener the error would end the thread.
    made.on('error', () => forget(made))
    made.on('end', () => forget(made))
    try {
      await made.connect()
    } catch (error) {
      const { code, message } = questdbError(error)
      // QuestDB refuses a connection for no other reason.
      throw new QuestdbError(code === 'REFUSED' ? 'ACCESS_DENIED' : code, message)
    }
    client = made
    return made
  }

  function forget(broken: pg.Client): void {
    if (client === broken) client = undefined
  }

  /** With a statement running this closes the socket, at which QuestDB ends the statement. */
  function abandon(used: pg.Client): void {
    forget(used)
    void used.end().catch(() => undefined)
  }

  function read(statement: Statement, signal: AbortSignal, onRow: (row: PgRow) => void): Promise<void> {
    return mutex.run(() => execute(statement, signal, onRow))
  }

  async function execute(statement: Statement, signal: AbortSignal, onRow: (row: PgRow) => void): Promise<void> {
    if (client !== undefined) {
      let rowsSeen = 0
      const onCountedRow = (row: PgRow) => {
        rowsSeen++
        onRow(row)
      }
      try {
        return await attempt(client, statement, signal, onCountedRow)
      } catch (error) {
        // A failure may stem from an earlier restart or a cut connection, so the statement is retried on a new one.
        if (rowsSeen > 0 || isFinal(error)) throw error
      }
    }
    await attempt(await connect(), statement, signal, onRow)
  }

  async function attempt(
    used: pg.Client,
    statement: Statement,
    signal: AbortSignal,
    onRow: (row: PgRow) => void,
  ): Promise<void> {
    if (signal.aborted) throw new QuestdbError('CANCELLED', 'before it began')
    const cut = () => abandon(used)
    signal.addEventListener('abort', cut, { once: true })
    try {
      await run(used, statement, onRow)
    } catch (error) {
      // The name of a statement whose first run failed stays taken on the connection, so the connection is closed too.
      abandon(used)
      if (signal.aborted) throw new QuestdbError('CANCELLED', 'while it ran')
      throw questdbError(error)
    } finally {
      signal.removeEventListener('abort', cut)
    }
  }

  async function close(): Promise<void> {
    await client?.end().catch(() => undefined)
  }

  return { read, close }
}

function run(client: pg.Client, statement: Statement, onRow: (row: PgRow) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const config: pg.QueryArrayConfig = { ...statement, values: [...statement.values], rowMode: 'array' }
    const query = new pg.Query(config)
    query.on('row', (row: PgRow) => onRow(row))
    query.on('error', reject)
    query.on('end', () => resolve())
    client.query(query)
  })
}

/** True when a new connection would fail too. A refused statement may have been prepared for an older table. */
function isFinal(error: unknown): boolean {
  return error instanceof QuestdbError && (error.code === 'TIMED_OUT' || error.code === 'CANCELLED')
}
