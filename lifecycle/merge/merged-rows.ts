/** Rows of a table as QuestDB gives them over the PostgreSQL protocol, and as it takes them in line protocol. */

import pg from 'pg'
import Cursor from 'pg-cursor'
import { bug } from '../../limits/bug.ts'
import type { QuestdbPg } from '../../store/questdb/client/questdb-address.ts'
import { questdbError } from '../../store/questdb/client/questdb-error.ts'
import type { MergedTable } from './merged-tables.ts'

/** Texts as QuestDB writes them, so that no digit is lost; null for no value. */
export type RowText = readonly (string | null)[]

export interface RowReader {
  /** The rows of a statement in pieces of at most so many, each of which is asked for when the one before is dealt with. */
  pieces(sql: string): AsyncGenerator<readonly RowText[]>
  close(): Promise<void>
}

const rowsPerPiece = 20_000
/** QuestDB ends a statement after 30 seconds otherwise. */
const statementTimeoutMs = 3_600_000
const types = { getTypeParser: () => String }

/** Ends with the signal. Rejects with a QuestdbError, as reading does. */
export async function openRowReader(address: QuestdbPg, signal: AbortSignal): Promise<RowReader> {
  signal.throwIfAborted()
  const { host, port, user, password, database } = address
  const options = `-c statement_timeout=${statementTimeoutMs}`
  const client = new pg.Client({ host, port, user, password, database, ssl: false, options })
  // What is under way rejects with it.
  client.on('error', () => undefined)
  const close = () => client.end().catch(() => undefined)
  signal.addEventListener('abort', () => void close(), { once: true })
  await client.connect().catch(error => Promise.reject(questdbError(error)))
  return {
    async *pieces(sql) {
      const cursor = client.query(new Cursor<RowText>(sql, [], { rowMode: 'array', types }))
      for (;;) {
        const rows = await cursor.read(rowsPerPiece).catch(error => Promise.reject(questdbError(error)))
        if (rows.length === 0) return
        yield rows
      }
    },
    close,
  }
}

const dayUs = 86_400_000_000

function dayWhereSql(startUs: number): string {
  const timeText = (us: number) => new Date(us / 1000).toISOString()
  return `WHERE ts >= '${timeText(startUs)}' AND ts < '${timeText(startUs + dayUs)}'`
}

/** The rows of a day, as `lineOf` takes them. */
export function rowsSql({ name, key, columns }: MergedTable, startUs: number): string {
  const texts = columns.map(({ name, type }) => (type === 'TIMESTAMP' ? `cast(${name} AS LONG) AS ${name}` : name))
  return `SELECT cast(ts AS LONG) AS us, ${[key, ...texts].join(', ')} FROM ${name} ${dayWhereSql(startUs)}`
}

/** The number of rows of each key on a day, and sums of whole numbers, which come out the same in whatever order they are added up. */
export function sumsSql({ name, key, columns }: MergedTable, startUs: number): string {
  const sums = columns.map(({ name, type }) => {
    if (type === 'TIMESTAMP') return `sum(cast(${name} AS LONG) % ${dayUs})`
    return `sum(${type === 'LONG' ? name : `cast(${name} * 10000 AS LONG)`})`
  })
  const terms = ['count()', `sum(cast(ts AS LONG) % ${dayUs})`, ...sums].map((term, at) => `${term} AS term${at}`)
  return `SELECT ${[key, ...terms].join(', ')} FROM ${name} ${dayWhereSql(startUs)} GROUP BY ${key}`
}

const suffixes = { DOUBLE: '', LONG: 'i', TIMESTAMP: 't' } as const

/** A line of line protocol with its time in microseconds. */
export function lineOf({ name, key, columns }: MergedTable, [us, keyText, ...values]: RowText): string {
  const isSymbol = key === 'device'
  if (typeof keyText !== 'string' || !(isSymbol ? /^[a-z0-9-]+$/ : /^\d+$/).test(keyText))
    throw bug(`a ${key} is ${keyText}`)
  const fields = isSymbol ? [] : [`series=${keyText}i`]
  for (const [at, column] of columns.entries()) {
    const value = values[at] ?? null
    if (value !== null) fields.push(`${column.name}=${value}${suffixes[column.type]}`)
  }
  return `${name}${isSymbol ? `,device=${keyText}` : ''} ${fields.join(',')}${fields.length > 0 ? ' ' : ''}${us}\n`
}
