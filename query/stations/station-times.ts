/**
 * The points of a station in place of a device's readings: points of one time form a reading, without the five metrics.
 */

import type { PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { hourlyAggregates, metrics } from '../../store/tables.ts'
import { QueryFailed } from '../query-failed.ts'
import type { ColumnsReader } from '../questdb/questdb-export.ts'
import type { ReadingsSource } from '../questdb/readings-source.ts'
import { type ValuesRange, type ValuesTable, valuesFromSql, whole } from '../questdb/values-table.ts'
import { mapColumns } from '../series.ts'

/**
 * Used behind FROM: rows of `ts`, each time once, ascending. The limit is outside: beside ORDER BY, QuestDB 9.3.4 keeps
 * a list of the top rows, and each row costs time in proportion to the limit. For 1,437 times it took 6.6 s with a
 * limit of 270,001 and 81 ms without; neither a closed connection nor the statement's time limit ends it.
 */
export function timesFromSql(table: ValuesTable, range: ValuesRange): string {
  return `(SELECT ts FROM (SELECT ts FROM ${valuesFromSql(table, range)} GROUP BY ts) ORDER BY ts)`
}

export function createStationTimes(
  reader: Pick<ColumnsReader, 'read'>,
  connection: Pick<PgConnection, 'read'>,
  table: ValuesTable,
  series: readonly number[],
): ReadingsSource {
  const none = new Float64Array(0)

  /** Returns microseconds. */
  async function readTimes(text: string, signal: AbortSignal): Promise<number[]> {
    const times: number[] = []
    if (series.length > 0) {
      await connection.read({ text, values: [] }, signal, ([timeUs]) => times.push(Number(timeUs)))
    }
    return times
  }

  return {
    async series({ afterUs, throughUs, rowsMax }, signal) {
      const timesUs = series.length === 0 ? none : await readColumn({ afterUs, throughUs, rowsMax }, signal)
      if (timesUs.length > rowsMax) throw new QueryFailed('TOO_LARGE', `points at more than ${rowsMax} times`)
      const values = new Float64Array(timesUs.length).fill(Number.NaN)
      return { timesMs: timesUs.map(timeUs => timeUs / 1000), values: mapColumns(metrics, () => values.slice()) }
    },
    async hourly() {
      return { startsMs: none, metrics: mapColumns(metrics, () => mapColumns(hourlyAggregates, () => none)) }
    },
    async newestUs(_symbol, throughUs, signal) {
      const from = valuesFromSql(table, { fromUs: 0, toUs: throughUs + 1, series })
      const [timeUs] = await readTimes(`SELECT cast(ts AS LONG) FROM ${from} ORDER BY ts DESC LIMIT 1`, signal)
      return timeUs
    },
    async newestExpiredHourUs() {
      return undefined
    },
    async newestTimes({ afterUs, throughUs, countMax }, signal) {
      const from = valuesFromSql(table, { fromUs: afterUs + 1, toUs: throughUs + 1, series })
      // A time has at most one point of each series.
      const limit = whole(countMax) * series.length
      const timesUs = await readTimes(`SELECT cast(ts AS LONG) FROM ${from} ORDER BY ts DESC LIMIT ${limit}`, signal)
      const newest = [...new Set(timesUs)].slice(0, countMax)
      return Float64Array.from(newest.reverse(), timeUs => timeUs / 1000)
    },
  }

  /** One more than the limit reveals that there are too many. */
  async function readColumn(
    { afterUs, throughUs, rowsMax }: { afterUs: number; throughUs: number; rowsMax: number },
    signal: AbortSignal,
  ): Promise<Float64Array> {
    const from = timesFromSql(table, { fromUs: afterUs + 1, toUs: throughUs + 1, series })
    const sql = `SELECT cast(ts AS DOUBLE) time FROM ${from} LIMIT ${whole(rowsMax) + 1}`
    const [timesUs] = await reader.read({ sql, columnCount: 1, rowsMax: rowsMax + 1 }, signal)
    return timesUs
  }
}
