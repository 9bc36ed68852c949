/**
 * Expires days of raw readings in QuestDB: its hours are kept in separate tables and compared with the rows, the day is
 * marked, and then its partitions are dropped. Each step can be repeated.
 */

import { bug } from '../../../store/limits/bug.ts'
import { type Exec, untilTableApplied } from '../../../store/questdb/until-applied.ts'
import { expiredDaysTable, readingsTable } from '../../../store/tables.ts'
import {
  type ExpiringTable,
  expiringMeasurements,
  expiringReadings,
  type HoursRange,
  timeText,
  whereSql,
} from './expiring-tables.ts'
import { dayMs } from './horizon.ts'

type Pause = () => Promise<void>

export interface RawDay {
  /** Epoch milliseconds. */
  startMs: number
  /** Number of raw readings in it, or of values of custom metrics. */
  readings: number
}

/** Days with a partition, ascending. */
export async function listRawDays(
  exec: Exec,
  { name: table }: Pick<ExpiringTable, 'name'> = expiringReadings,
): Promise<RawDay[]> {
  const partitions = await exec(`SELECT name, numRows FROM table_partitions('${table}')`)
  const days = new Map<number, number>()
  for (const [name, rows] of partitions) {
    // A partition that late rows have split has a time after its day.
    const startMs = Date.parse(String(name).slice(0, 10))
    days.set(startMs, (days.get(startMs) ?? 0) + Number(rows))
  }
  return [...days].map(([startMs, readings]) => ({ startMs, readings })).sort((a, b) => a.startMs - b.startMs)
}

/** Time of the newest applied reading in whole milliseconds; -Infinity without one. Epoch milliseconds. */
export async function readNewestMs(exec: Exec): Promise<number> {
  // The table is ordered by time, so the last row is the newest.
  const [row] = await exec(`SELECT cast(ts AS LONG) FROM ${readingsTable} LIMIT -1`)
  return row === undefined ? Number.NEGATIVE_INFINITY : Math.floor(Number(row[0]) / 1000)
}

/** End of the last marked day; -Infinity without one. Epoch milliseconds. */
export async function readExpiredBeforeMs(exec: Exec): Promise<number> {
  const [row] = await exec(`SELECT cast(max(ts) AS LONG) FROM ${expiredDaysTable}`)
  const lastUs = row?.[0] ?? null
  return lastUs === null ? Number.NEGATIVE_INFINITY : Number(lastUs) / 1000 + dayMs
}

/**
 * Keeps the hours of a day and marks it as expired. Throws if the hours do not match its rows. The mark is the last
 * step: before it, neither readings nor values of custom metrics of the day have expired.
 */
export async function expireDay(exec: Exec, day: RawDay, pause: Pause): Promise<void> {
  const measured = (await listRawDays(exec, expiringMeasurements)).find(({ startMs }) => startMs === day.startMs)
  // A day without values is marked, too. A dead letter that is replayed later would otherwise look like values kept by
  // an earlier version.
  if (measured === undefined)
    await noteHours(exec, expiringMeasurements, { startMs: day.startMs, readings: 0 }, 0, pause)
  else await keepDay(exec, expiringMeasurements, measured, pause)
  await keepDay(exec, expiringReadings, day, pause)
}

/** Keeps a table's hours of a day and notes that they exist. */
export async function keepDay(exec: Exec, table: ExpiringTable, day: RawDay, pause: Pause): Promise<void> {
  const { startMs, readings } = day
  const { hoursTable, hourColumns, sumsSql, isPresentSql } = table
  for (const piece of piecesOf(startMs, readings)) {
    await exec(`INSERT INTO ${hoursTable} (${hourColumns}) ${table.hoursSql(piece)}`)
  }
  await untilTableApplied(exec, hoursTable, pause)
  let hours = 0
  for (const piece of piecesOf(startMs, readings)) {
    const [ofRows] = await exec(`SELECT ${sumsSql} FROM (${table.hoursSql(piece)})`)
    const [kept] = await exec(`SELECT ${sumsSql} FROM ${hoursTable} ${whereSql(piece)} AND ${isPresentSql}`)
    if (kept?.join() !== ofRows?.join()) {
      throw new Error(`the hours of ${dayText(startMs)} differ from its ${table.name}: ${kept} of ${ofRows}`)
    }
    hours += Number(kept?.[0])
  }
  await noteHours(exec, table, day, hours, pause)
}

async function noteHours(
  exec: Exec,
  { daysTable }: ExpiringTable,
  { startMs, readings }: RawDay,
  hours: number,
  pause: Pause,
): Promise<void> {
  await exec(`INSERT INTO ${daysTable} VALUES ('${timeText(startMs)}', ${readings}, ${hours})`)
  await untilTableApplied(exec, daysTable, pause)
}

/** False if QuestDB, without sync, has lost noted hours of the day. Undefined if none were noted. */
export async function hasAllHours(
  exec: Exec,
  { hoursTable, daysTable }: ExpiringTable,
  { startMs }: RawDay,
): Promise<boolean | undefined> {
  const where = whereSql({ fromMs: startMs, toMs: startMs + dayMs })
  const [mark] = await exec(`SELECT hours FROM ${daysTable} ${where}`)
  if (mark === undefined) return undefined
  const [kept] = await exec(`SELECT count() FROM ${hoursTable} ${where}`)
  // Hours of erased series have no values and still count.
  return Number(kept?.[0]) >= Number(mark[0])
}

/** Removes earlier days. For readings, this invalidates the hourly view, which QuestDB then rebuilds. */
export async function dropDays(exec: Exec, { name }: ExpiringTable, beforeMs: number, pause: Pause): Promise<void> {
  if (beforeMs % dayMs !== 0) throw bug(`${name} before ${beforeMs} are to go, which begins no day`)
  await exec(`ALTER TABLE ${name} DROP PARTITION WHERE ts < '${timeText(beforeMs)}'`)
  await untilTableApplied(exec, name, pause)
}

export function dayText(startMs: number): string {
  return timeText(startMs).slice(0, 10)
}

/** Rows of one statement, within its time limit. */
const readingsPerStatement = 20_000_000
const hourMs = 3_600_000

export function piecesOf(startMs: number, readings: number): HoursRange[] {
  const hours = Math.max(1, Math.floor(24 / Math.ceil(Math.max(1, readings) / readingsPerStatement)))
  const lengthMs = hours * hourMs
  return Array.from({ length: Math.ceil(24 / hours) }, (_, index) => {
    const fromMs = startMs + index * lengthMs
    return { fromMs, toMs: Math.min(fromMs + lengthMs, startMs + dayMs) }
  })
}
