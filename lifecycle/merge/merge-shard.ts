/**
 * Copies the rows of a shard into another one, a day of a table at a time, and compares. To be called while nobody writes to
 * either. Rows are upserted, so it may be ended at any time and begun again.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { type Exec, untilTableApplied } from '../../store/questdb/until-applied.ts'
import { expiredDaysTable } from '../../store/tables.ts'
import { readExpiredBeforeMs } from '../retention/expired-days.ts'
import { lineOf, openRowReader, type RowReader, rowsSql, sumsSql } from './merged-rows.ts'
import { type MergedTable, mergedTables } from './merged-tables.ts'

export interface MergeOptions {
  from: QuestdbAddress
  to: QuestdbAddress
  signal: AbortSignal
  /** Told of each day that is copied, as `2026-11-26`. */
  onDay: (table: string, day: string) => void
}

/** What cannot be merged as it is, in a sentence. */
export class MergeRefused extends Error {
  override name = 'MergeRefused'
}

const timeoutMs = 120_000
const pauseMs = 100

interface Side {
  reader: RowReader
  exec: Exec
}

/** How many rows of each table were copied; of those alone that there are. */
export async function mergeShard({ from, to, signal, onDay }: MergeOptions): Promise<Record<string, number>> {
  const [fromClient, toClient] = [createQuestdbClient(from.http), createQuestdbClient(to.http)]
  const ended = new AbortController()
  const either = AbortSignal.any([signal, ended.signal])
  try {
    const source: Side = { reader: await openRowReader(from.pg, either), exec: sql => fromClient.exec(sql, timeoutMs) }
    const target: Side = { reader: await openRowReader(to.pg, either), exec: sql => toClient.exec(sql, timeoutMs) }
    await assertSameExpiry(source.exec, target.exec)
    const copied: Record<string, number> = {}
    for (const table of await presentTables(source.exec)) {
      const days = await listDays(source.reader, table)
      copied[table.name] = 0
      for (const startUs of days) {
        const write = (rows: string) => toClient.write(rows, timeoutMs)
        copied[table.name] = (copied[table.name] ?? 0) + (await copyDay(source.reader, table, startUs, write))
        onDay(table.name, dayText(startUs))
      }
      const pause = () => sleep(pauseMs, undefined, { signal })
      if (days.length > 0) await untilTableApplied(target.exec, table.name, pause)
      for (const startUs of days) await compareDay(source.reader, target.reader, table, startUs)
    }
    return copied
  } finally {
    ended.abort()
    fromClient.close()
    toClient.close()
  }
}

/** Hours of a day that has expired count in place of its readings: in both shards, or in none. */
async function assertSameExpiry(source: Exec, target: Exec): Promise<void> {
  const [ofSource, ofTarget] = [await expiredBefore(source), await expiredBefore(target)]
  if (ofSource === ofTarget) return
  throw new MergeRefused(
    'the two have not expired the same days: let the service run until RETENTION_DAYS is done in both',
  )
}

async function expiredBefore(exec: Exec): Promise<number> {
  return (await tableNames(exec)).has(expiredDaysTable) ? await readExpiredBeforeMs(exec) : Number.NEGATIVE_INFINITY
}

/** Those of expired days are only where readings expire. */
async function presentTables(exec: Exec): Promise<MergedTable[]> {
  const names = await tableNames(exec)
  return mergedTables.filter(({ name }) => names.has(name))
}

async function tableNames(exec: Exec): Promise<Set<unknown>> {
  return new Set((await exec('SELECT table_name FROM tables()')).map(([name]) => name))
}

async function listDays(reader: RowReader, { name }: MergedTable): Promise<number[]> {
  const days: number[] = []
  const sql = `SELECT DISTINCT cast(timestamp_floor('d', ts) AS LONG) AS day FROM ${name} ORDER BY day`
  for await (const rows of reader.pieces(sql)) days.push(...rows.map(([day]) => Number(day)))
  return days
}

async function copyDay(
  reader: RowReader,
  table: MergedTable,
  startUs: number,
  write: (rows: string) => Promise<void>,
): Promise<number> {
  let count = 0
  for await (const rows of reader.pieces(rowsSql(table, startUs))) {
    await write(rows.map(row => lineOf(table, row)).join(''))
    count += rows.length
  }
  return count
}

/** A day of a device is whole in one shard, so that the other one has no rows of these keys but the copied ones. */
async function compareDay(source: RowReader, target: RowReader, table: MergedTable, startUs: number): Promise<void> {
  const sums = new Map<string | null | undefined, string>()
  for await (const rows of source.pieces(sumsSql(table, startUs))) {
    for (const [key, ...terms] of rows) sums.set(key, terms.join())
  }
  for await (const rows of target.pieces(sumsSql(table, startUs))) {
    for (const [key, ...terms] of rows) if (sums.get(key) === terms.join()) sums.delete(key)
  }
  const [differing] = sums.keys()
  if (differing === undefined) return
  throw new MergeRefused(
    `${table.name} of ${dayText(startUs)} differs in the two after the copy (${table.key} ${differing})`,
  )
}

function dayText(startUs: number): string {
  return new Date(startUs / 1000).toISOString().slice(0, 10)
}
