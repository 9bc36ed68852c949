/** The dead letters of topics in PostgreSQL. */

import type pg from 'pg'
import type { Transaction } from '../../../store/postgres/transaction.ts'
import {
  type DeadLetter,
  deadLettersMax,
  type ListedLetter,
  recordOf,
  withoutErased,
} from '../../forwarder/dead-letters.ts'
import { erasedCustom } from '../../journal/record.ts'
import type { TableDescription } from '../../table.ts'

/** Ids are from `letterId`. Dead letters of one record in several replicas count once. */
export interface ReplicaLetters {
  /** Ids ascend, beginning after `after`. */
  list(topic: string, after: number, limit: number): Promise<ListedLetter[]>
  /** Returns their number. */
  remove(topic: string, ids: readonly number[]): Promise<number>
  /**
   * Removes erased series from all dead letters, custom ones given as `erasedCustom` numbers: see `withoutErased`. Resolves with
   * the names of damaged ones, which may contain their values.
   */
  erase(topic: string, erased: ReadonlySet<number>): Promise<string[]>
}

/** The limit `deadLettersMax` applies to a topic, since an operator cannot review more. */
export class TooManyLetters extends Error {
  constructor(topic: string) {
    super(`topic ${topic} has ${deadLettersMax} dead letters; look at them, then replay or remove them`)
    this.name = 'TooManyLetters'
  }
}

interface ReplicaLettersOptions {
  query: <Row extends pg.QueryResultRow>(text: string, values: unknown[]) => Promise<Row[]>
  transact: <Result>(work: (transaction: Transaction) => Promise<Result>) => Promise<Result>
  tableOf: (topic: string) => TableDescription
  /** The state keys of a topic, one for each replica. */
  keysOf: (topic: string) => readonly string[]
}

/** A record is at most 64 KiB. */
const lettersPerStatement = 200

export function createReplicaLetters({ query, transact, tableOf, keysOf }: ReplicaLettersOptions): ReplicaLetters {
  return {
    async list(topic, after, limit) {
      const listSql = `${selectSql('DISTINCT ON (id)')} WHERE topic = ANY($1) AND id > $2 ORDER BY id, topic LIMIT $3`
      const rows = await query<LetterRow>(listSql, [keysOf(topic), after, limit])
      return rows.map(row => listedOf(tableOf(topic), row))
    },
    async remove(topic, ids) {
      // Rows are locked in order, as by an erase: the two could deadlock otherwise.
      const rows = await query<{ id: string }>(
        `WITH chosen AS (SELECT topic, id FROM replica_dead_letters WHERE topic = ANY($1) AND id = ANY($2::bigint[])
           ORDER BY topic, id FOR UPDATE)
         DELETE FROM replica_dead_letters AS letter USING chosen WHERE letter.topic = chosen.topic AND letter.id = chosen.id
         RETURNING chosen.id`,
        [keysOf(topic), ids],
      )
      return new Set(rows.map(({ id }) => id)).size
    },
    async erase(topic, erased) {
      const damaged: string[] = []
      for (const key of keysOf(topic)) {
        let after: number | undefined = -1
        while (after !== undefined) {
          const next: EraseNext = { table: tableOf(topic), key, after, erased, damaged }
          after = await transact(transaction => eraseNext(transaction, next))
        }
      }
      return damaged
    },
  }
}

interface EraseNext {
  table: TableDescription
  key: string
  /** An id. */
  after: number
  erased: ReadonlySet<number>
  /** Receives their names. */
  damaged: string[]
}

/** Erases from some dead letters after an id, and returns the id of the last one. Undefined at the end. */
async function eraseNext(
  transaction: Transaction,
  { table, key, after, erased, damaged }: EraseNext,
): Promise<number | undefined> {
  const { rows } = await transaction.query<LetterRow>(
    `${selectSql()} WHERE topic = $1 AND id > $2 AND (series = ANY($3::bigint[]) OR further IS NOT NULL)
     ORDER BY id LIMIT ${lettersPerStatement} FOR UPDATE`,
    [key, after, [...erased]],
  )
  const gone: number[] = []
  const changed: DeadLetter[] = []
  for (const row of rows) {
    const left = leftOf(table, row, erased, damaged)
    if (left === 'nothing') gone.push(row.id)
    else if (left !== 'unchanged') changed.push(left)
  }
  if (gone.length > 0) {
    await transaction.query('DELETE FROM replica_dead_letters WHERE topic = $1 AND id = ANY($2::bigint[])', [key, gone])
  }
  if (changed.length > 0) await transaction.query(rewriteSql, [key, textOf(changed)])
  return rows.length < lettersPerStatement ? undefined : rows.at(-1)?.id
}

function leftOf(table: TableDescription, row: LetterRow, erased: ReadonlySet<number>, damaged: string[]) {
  try {
    return withoutErased(table, letterOf(row), erased)
  } catch {
    damaged.push(row.name)
    return 'unchanged'
  }
}

/** Adds missing dead letters, without values that tombstones erase. The caller has locked the state of this key. */
export async function insertLetters(
  transaction: Transaction,
  table: TableDescription,
  key: string,
  letters: readonly DeadLetter[],
): Promise<void> {
  for (let from = 0; from < letters.length; from += lettersPerStatement) {
    const slice = letters.slice(from, from + lettersPerStatement)
    const left = await withoutTombstones(transaction, table, key, slice)
    if (left.length > 0) await transaction.query(insertSql, [key, textOf(left)])
  }
  const { rows } = await transaction.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM replica_dead_letters WHERE topic = $1',
    [key],
  )
  if (Number(rows[0]?.count) > deadLettersMax) throw new TooManyLetters(key)
}

async function withoutTombstones(
  transaction: Transaction,
  table: TableDescription,
  key: string,
  letters: readonly DeadLetter[],
): Promise<DeadLetter[]> {
  const series = letters.flatMap(letter => [letter.series, ...customNumbers(letter)])
  const { rows } = await transaction.query<{ series: number }>(
    'SELECT series::float8 AS series FROM replica_tombstones WHERE topic = $1 AND series = ANY($2::bigint[])',
    [key, series],
  )
  if (rows.length === 0) return [...letters]
  const erased = new Set(rows.map(({ series }) => series))
  return letters.flatMap(letter => {
    const left = withoutErased(table, letter, erased)
    return left === 'nothing' ? [] : left === 'unchanged' ? [letter] : [left]
  })
}

function customNumbers({ further = [] }: DeadLetter): number[] {
  return further.map(({ series }) => erasedCustom(series))
}

interface LetterRow extends Omit<DeadLetter, 'at' | 'further' | 'record'> {
  at: Date
  name: string
  further: NonNullable<DeadLetter['further']> | null
  record: Buffer
}

function letterOf({ at, name: _, further, record, ...row }: LetterRow): DeadLetter {
  const more = further === null ? {} : { further }
  return { ...row, at: at.toISOString(), ...more, record: record.toString('base64') }
}

function listedOf(table: TableDescription, row: LetterRow): ListedLetter {
  const letter = letterOf(row)
  try {
    recordOf(table, letter)
    return letter
  } catch (error) {
    return { id: row.id, name: row.name, damage: error instanceof Error ? error.message : String(error) }
  }
}

/** Replaces zeros and halves of surrogate pairs, which PostgreSQL rejects. The bytes of the record stay unchanged. */
function textOf(letters: readonly DeadLetter[]): string {
  const clean = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd')
  return JSON.stringify(
    letters.map(letter => ({ ...letter, reason: clean(letter.reason), symbol: clean(letter.symbol) })),
  )
}

const selectSql = (
  distinct = '',
) => `SELECT ${distinct} id::float8 AS id, 'dead letter ' || replica_dead_letters.id || ' of topic ' || topic AS name, at, reason, series::float8 AS series, symbol, time, "values", further, record
  FROM replica_dead_letters`

const givenSql = `json_to_recordset($2::json) AS given (id bigint, at timestamptz, reason text, series bigint, symbol text,
  time text, "values" json, further json, record text)`

const insertSql = `INSERT INTO replica_dead_letters (topic, id, at, reason, series, symbol, time, "values", further, record)
  SELECT $1, id, at, reason, series, symbol, time, "values", further, decode(record, 'base64') FROM ${givenSql}
  ON CONFLICT (topic, id) DO NOTHING`

const rewriteSql = `UPDATE replica_dead_letters AS known SET further = given.further, record = decode(given.record, 'base64')
  FROM ${givenSql} WHERE topic = $1 AND known.id = given.id`
