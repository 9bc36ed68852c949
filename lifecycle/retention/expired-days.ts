/**
 * Days of raw readings in QuestDB, and how one expires: its hours are kept in a table of their own, compared with the readings,
 * the day is marked, and then its partition goes. Each step can be repeated.
 */

import { bug } from '../../limits/bug.ts'
import { type Exec, untilTableApplied } from '../../store/questdb/until-applied.ts'
import { expiredDaysTable, expiredHoursTable, hourlyColumns, metrics, readingsTable } from '../../store/tables.ts'
import { dayMs } from './horizon.ts'

type Pause = () => Promise<void>

export interface RawDay {
  /** Epoch milliseconds. */
  startMs: number
  /** Raw readings in it. */
  readings: number
}

/** The days that have a partition, ascending. */
export async function listRawDays(exec: Exec): Promise<RawDay[]> {
  const partitions = await exec(`SELECT name, numRows FROM table_partitions('${readingsTable}')`)
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

/** Keeps the hours of a day, and marks it. Throws when the hours are not those of the readings. */
export async function expireDay(exec: Exec, { startMs, readings }: RawDay, pause: Pause): Promise<void> {
  for (const piece of piecesOf(startMs, readings)) await exec(keepSql(piece))
  await untilTableApplied(exec, expiredHoursTable, pause)
  let hours = 0
  for (const piece of piecesOf(startMs, readings)) {
    const [ofReadings] = await exec(`SELECT ${sumsSql} FROM (${hoursSql(piece)})`)
    const [kept] = await exec(`SELECT ${sumsSql} FROM ${expiredHoursTable} ${whereSql(piece)} AND ${isPresent}`)
    if (kept?.join() !== ofReadings?.join()) {
      throw new Error(`the hours of ${dayText(startMs)} are not those of its readings: ${kept} of ${ofReadings}`)
    }
    hours += Number(kept?.[0])
  }
  await exec(`INSERT INTO ${expiredDaysTable} VALUES ('${timeText(startMs)}', ${readings}, ${hours})`)
  await untilTableApplied(exec, expiredDaysTable, pause)
}

/** Whether a marked day has all of its hours: a QuestDB that does not sync may have lost some. */
export async function hasAllHours(exec: Exec, { startMs }: RawDay): Promise<boolean> {
  const range = { fromMs: startMs, toMs: startMs + dayMs }
  const [mark] = await exec(`SELECT hours FROM ${expiredDaysTable} ${whereSql(range)}`)
  const [kept] = await exec(`SELECT count() FROM ${expiredHoursTable} ${whereSql(range)}`)
  // Those of erased devices have no values any more, and still count.
  return mark === undefined || Number(kept?.[0]) >= Number(mark[0])
}

/** Removes the raw readings of all days before this one. QuestDB gives up the hourly view by it, which is then rebuilt. */
export async function dropDays(exec: Exec, beforeMs: number, pause: Pause): Promise<void> {
  if (beforeMs % dayMs !== 0) throw bug(`readings before ${beforeMs} are to go, which begins no day`)
  await exec(`ALTER TABLE ${readingsTable} DROP PARTITION WHERE ts < '${timeText(beforeMs)}'`)
  await untilTableApplied(exec, readingsTable, pause)
}

export function dayText(startMs: number): string {
  return timeText(startMs).slice(0, 10)
}

interface Range {
  fromMs: number
  toMs: number
}

/** So many readings in one statement, to stay within its time limit. */
const readingsPerStatement = 20_000_000
const hourMs = 3_600_000

/** Of whole hours. */
function piecesOf(startMs: number, readings: number): Range[] {
  const hours = Math.max(1, Math.floor(24 / Math.ceil(Math.max(1, readings) / readingsPerStatement)))
  const lengthMs = hours * hourMs
  return Array.from({ length: Math.ceil(24 / hours) }, (_, index) => {
    const fromMs = startMs + index * lengthMs
    return { fromMs, toMs: Math.min(fromMs + lengthMs, startMs + dayMs) }
  })
}

const names = ['ts', 'device', ...hourlyColumns.map(({ name }) => name)].join(', ')
const aggregates = hourlyColumns.map(({ sql }) => sql).join(', ')
const counts = metrics.map(metric => `${metric}_count`)
/** Null in the hours of an erased device. */
const isPresent = `${counts[0]} IS NOT NULL`
/** Of whole numbers, which come out the same in whatever order they are added up. */
const sumsSql = [
  'count()',
  ...counts.map(name => `sum(${name})`),
  ...metrics.flatMap(metric => ['min', 'max'].map(aggregate => `sum(cast(${metric}_${aggregate} * 10000 AS LONG))`)),
].join(', ')

/** The hours of the readings, without those of erased devices. */
function hoursSql(range: Range): string {
  const hours = `SELECT ts, device, ${aggregates} FROM ${readingsTable} ${whereSql(range)} SAMPLE BY 1h ALIGN TO CALENDAR`
  return `SELECT ${names} FROM (${hours}) WHERE ${counts.join(' + ')} > 0`
}

function keepSql(range: Range): string {
  return `INSERT INTO ${expiredHoursTable} (${names}) ${hoursSql(range)}`
}

function whereSql({ fromMs, toMs }: Range): string {
  return `WHERE ts >= '${timeText(fromMs)}' AND ts < '${timeText(toMs)}'`
}

function timeText(ms: number): string {
  return new Date(ms).toISOString()
}
