/**
 * Days of raw readings in QuestDB, and how one expires: its hours are kept in tables of their own, compared with the rows, the
 * day is marked, and then its partitions go. Each step can be repeated.
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
  /** Raw readings in it, or values without a column. */
  readings: number
}

/** The days that have a partition, ascending. */
export async function listRawDays(
  exec: Exec,
  { name: table }: Pick<ExpiringTable, 'name'> = expiringReadings,
): Promise<RawDay[]> {
  const partitions = await exec(`SELECT name, numRows FROM table_partitions('${table}')`)
  const days = new Map<number, number>()
  for (const [name, rows] of partitions) {
    // One that was split by late rows has a time behind its day.
    const startMs = Date.parse(String(name).slice(0, 10))
    days.set(startMs, (days.get(startMs) ?? 0) + Number(rows))
  }
  return [...days].map(([startMs, readings]) => ({ startMs, readings })).sort((a, b) => a.startMs - b.startMs)
}

/** The time of the newest reading that is applied, to the millisecond; -Infinity when there is none. Epoch milliseconds. */
export async function readNewestMs(exec: Exec): Promise<number> {
  // Of the last row, since the table is in the order of time.
  const [row] = await exec(`SELECT cast(ts AS LONG) FROM ${readingsTable} LIMIT -1`)
  return row === undefined ? Number.NEGATIVE_INFINITY : Math.floor(Number(row[0]) / 1000)
}

/** The day behind the last one that is marked; -Infinity when none is. Epoch milliseconds. */
export async function readExpiredBeforeMs(exec: Exec): Promise<number> {
  const [row] = await exec(`SELECT cast(max(ts) AS LONG) FROM ${expiredDaysTable}`)
  const lastUs = row?.[0] ?? null
  return lastUs === null ? Number.NEGATIVE_INFINITY : Number(lastUs) / 1000 + dayMs
}

/**
 * Keeps the hours of a day, and marks it as expired. Throws when the hours are not those of its rows. The mark is the last
 * step: until then nothing of the day has expired, neither readings nor their values without a column.
 */
export async function expireDay(exec: Exec, day: RawDay, pause: Pause): Promise<void> {
  const measured = (await listRawDays(exec, expiringMeasurements)).find(({ startMs }) => startMs === day.startMs)
  // Also that it has none: what a replayed dead letter brings later would be taken for values that a version before has kept.
  if (measured === undefined)
    await noteHours(exec, expiringMeasurements, { startMs: day.startMs, readings: 0 }, 0, pause)
  else await keepDay(exec, expiringMeasurements, measured, pause)
  await keepDay(exec, expiringReadings, day, pause)
}

/** Keeps the hours that a table has of a day, and notes that they are there. */
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

/**
 * Whether a day has all of its hours that were noted: a QuestDB that does not sync may have lost some. Undefined for a day
 * of which none were noted.
 */
export async function hasAllHours(
  exec: Exec,
  { hoursTable, daysTable }: ExpiringTable,
  { startMs }: RawDay,
): Promise<boolean | undefined> {
  const where = whereSql({ fromMs: startMs, toMs: startMs + dayMs })
  const [mark] = await exec(`SELECT hours FROM ${daysTable} ${where}`)
  if (mark === undefined) return undefined
  const [kept] = await exec(`SELECT count() FROM ${hoursTable} ${where}`)
  // Those of what was erased have no values any more, and still count.
  return Number(kept?.[0]) >= Number(mark[0])
}

/** Removes the rows of all days before this one. Of readings, QuestDB gives up the hourly view by it, which is then rebuilt. */
export async function dropDays(exec: Exec, { name }: ExpiringTable, beforeMs: number, pause: Pause): Promise<void> {
  if (beforeMs % dayMs !== 0) throw bug(`${name} before ${beforeMs} are to go, which begins no day`)
  await exec(`ALTER TABLE ${name} DROP PARTITION WHERE ts < '${timeText(beforeMs)}'`)
  await untilTableApplied(exec, name, pause)
}

export function dayText(startMs: number): string {
  return timeText(startMs).slice(0, 10)
}

/** So many rows in one statement, to stay within its time limit. */
const readingsPerStatement = 20_000_000
const hourMs = 3_600_000

/** Of whole hours. */
export function piecesOf(startMs: number, readings: number): HoursRange[] {
  const hours = Math.max(1, Math.floor(24 / Math.ceil(Math.max(1, readings) / readingsPerStatement)))
  const lengthMs = hours * hourMs
  return Array.from({ length: Math.ceil(24 / hours) }, (_, index) => {
    const fromMs = startMs + index * lengthMs
    return { fromMs, toMs: Math.min(fromMs + lengthMs, startMs + dayMs) }
  })
}
