/** One connection to QuestDB over the PostgreSQL protocol, made when it is first needed and again after it broke. */

import pg from 'pg'
import { QueryFailed } from '../query-failed.ts'
import type { WorkerSettings } from '../task.ts'

const int8Oid = 20
const float8Oid = 701
/** No Date parser: it costs more than the query. Times are asked for as LONG and stay exact below 2^53. */
const types = { getTypeParser: (oid: number) => (oid === int8Oid || oid === float8Oid ? Number : String) }

export type Row = readonly (number | string | null)[]

export interface Statement {
  /** A statement with a name is prepared once a connection; its text never changes. */
  readonly name?: string
  readonly text: string
  /** Never cast in the text: QuestDB takes a moment as a number of microseconds, and refuses a cast bind. */
  readonly values: readonly (number | string)[]
}

export interface Connection {
  /** Hands over the rows as they arrive and keeps none; throws QueryFailed for the world's failures. */
  read(statement: Statement, signal: AbortSignal, onRow: (row: Row) => void): Promise<void>
  close(): Promise<void>
}

type Settings = Pick<WorkerSettings, 'questdb' | 'connectTimeoutMs' | 'statementTimeoutMs'>

export function createConnection(settings: Settings): Connection {
  let client: pg.Client | undefined

  async function connect(): Promise<pg.Client> {
    const made = new pg.Client({
      ...settings.questdb,
      ssl: false,
      connectionTimeoutMillis: settings.connectTimeoutMs,
      keepAlive: true,
      // `pg`'s own statement_timeout is ignored by QuestDB; only the start-up option counts.
      options: `-c statement_timeout=${settings.statementTimeoutMs}`,
      types,
    })
    // A connection that breaks while idle says so here, and without a listener it would end the thread.
    made.on('error', () => forget(made))
    made.on('end', () => forget(made))
    try {
      await made.connect()
    } catch (error) {
      throw new QueryFailed('DATABASE_AWAY', messageOf(error))
    }
    client = made
    return made
  }

  function forget(broken: pg.Client): void {
    if (client === broken) client = undefined
  }

  /** With a statement running this cuts the socket, at which QuestDB ends the statement. */
  function abandon(used: pg.Client): void {
    forget(used)
    void used.end().catch(() => undefined)
  }

  async function read(statement: Statement, signal: AbortSignal, onRow: (row: Row) => void): Promise<void> {
    if (client !== undefined) {
      let rowsSeen = 0
      const onCountedRow = (row: Row) => {
        rowsSeen++
        onRow(row)
      }
      try {
        return await attempt(client, statement, signal, onCountedRow)
      } catch (error) {
        // QuestDB may have been restarted, or the connection cut, since it was last used: that says nothing about now.
        if (rowsSeen > 0 || isFinal(error)) throw error
      }
    }
    await attempt(await connect(), statement, signal, onRow)
  }

  async function attempt(
    used: pg.Client,
    statement: Statement,
    signal: AbortSignal,
    onRow: (row: Row) => void,
  ): Promise<void> {
    if (signal.aborted) throw new QueryFailed('CANCELLED', 'before it began')
    const cut = () => abandon(used)
    signal.addEventListener('abort', cut, { once: true })
    try {
      await run(used, statement, onRow)
    } catch (error) {
      // A statement whose first run failed keeps its name taken on the connection, so the connection goes with it.
      abandon(used)
      if (signal.aborted) throw new QueryFailed('CANCELLED', 'while it ran')
      throw asFailure(error) ?? error
    } finally {
      signal.removeEventListener('abort', cut)
    }
  }

  async function close(): Promise<void> {
    await client?.end().catch(() => undefined)
  }

  return { read, close }
}

function run(client: pg.Client, statement: Statement, onRow: (row: Row) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const config: pg.QueryArrayConfig = { ...statement, values: [...statement.values], rowMode: 'array' }
    const query = new pg.Query(config)
    query.on('row', (row: Row) => onRow(row))
    query.on('error', reject)
    query.on('end', () => resolve())
    client.query(query)
  })
}

function isFinal(error: unknown): boolean {
  return error instanceof QueryFailed && error.code !== 'DATABASE_AWAY'
}

/** The world's failure that an error stands for; undefined for one that is ours, as bad SQL. */
function asFailure(error: unknown): QueryFailed | undefined {
  const message = messageOf(error)
  // What QuestDB says is a DatabaseError; all else is the connection.
  if (!(error instanceof pg.DatabaseError)) return new QueryFailed('DATABASE_AWAY', message)
  // QuestDB has one SQLSTATE for everything, so the text decides.
  if (message.includes('timeout, query aborted')) return new QueryFailed('TIMED_OUT', message)
  // It listens before its tables have been made.
  if (message.includes('table does not exist')) return new QueryFailed('DATABASE_AWAY', message)
  return undefined
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
