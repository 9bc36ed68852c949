/**
 * Looks up single devices for the state of the fleet: the last values, the cadence as in the statistics, the hours,
 * their means.
 */

import { arrivalsOf, countBetween } from '../../analytics/reliability/coverage.ts'
import type { PgRow } from '../../store/questdb/client/questdb-pg.ts'
import { metrics, readingsTable } from '../../store/tables.ts'
import { deviceCadence } from '../analyses/device-cadence.ts'
import type { ReplicaReads } from '../contexts.ts'
import type { Queries } from '../queries.ts'
import { type AirMetric, airMetrics, type HourlySeries } from '../series.ts'
import { cadenceKinds, deviceHours, deviceRow, lastRow, type PackedRows, RowList } from './fleet-rows.ts'

interface Context extends Pick<ReplicaReads, 'connection' | 'source'> {
  readonly signal: AbortSignal
}

type FleetDevicesQuery = Queries['fleetDevices']
type Device = FleetDevicesQuery['devices'][number]

const dayUs = 86_400_000_000
/** The statistics look back as far for the cadence. */
const lookbackUs = 30 * dayUs
const hourMs = 3_600_000
const hourUs = hourMs * 1000

export async function readFleetDevices(query: FleetDevicesQuery, context: Context): Promise<PackedRows> {
  const rows = new RowList(deviceRow.width)
  for (const device of query.devices) await readDevice(device, query, context, rows)
  return rows.packed()
}

async function readDevice(device: Device, query: FleetDevicesQuery, context: Context, rows: RowList): Promise<void> {
  const { newestUs, timesMax, hourSources } = query
  const at = rows.add()
  const numbers = rows.numbers().subarray(at, at + deviceRow.width)
  numbers[lastRow.number] = device.number
  const lastUs = await context.source.newestUs(device.symbol, newestUs, context.signal)
  if (lastUs === undefined || lastUs < hourSources.expiredBeforeUs) return
  numbers[lastRow.timeUs] = lastUs
  const afterUs = Math.max(lastUs - lookbackUs, hourSources.expiredBeforeUs - 1)
  const toHour = Math.floor(query.nowUs / hourUs) + 1
  const fromHour = toHour - deviceHours
  const sums = new HourSums(fromHour, deviceHours)
  const timesMs = await readTimes(device, { afterUs, throughUs: lastUs, timesMax }, context, { numbers, sums })
  const cadence = deviceCadence(device, new Float64Array(0), timesMs)
  numbers[deviceRow.kind] = cadenceKinds.indexOf(cadence.kind)
  numbers[deviceRow.expectedMs] = cadence.expectedMs ?? Number.NaN
  numbers[deviceRow.gapMs] = cadence.gapMs ?? Number.NaN
  const firstHour = Math.floor((timesMs[0] ?? 0) / hourMs)
  // The hour of the oldest fetched reading may have more readings.
  const exactFrom = timesMs.length < timesMax ? fromHour : Math.max(fromHour, firstHour + 1)
  numbers[deviceRow.firstHour] = firstHour
  numbers[deviceRow.exactFromHour] = exactFrom
  const { thinnedMs } = arrivalsOf(timesMs, cadence)
  for (let hour = exactFrom; hour < toHour; hour++) {
    numbers[deviceRow.counts + hour - fromHour] = countBetween(thinnedMs, hour * hourMs, (hour + 1) * hourMs)
  }
  if (exactFrom > fromHour) {
    sums.clearBefore(exactFrom)
    const range = { fromUs: fromHour * hourUs, toUs: exactFrom * hourUs, ...hourSources }
    addHours(await context.source.hourly({ symbol: device.symbol, ...range }, context.signal), fromHour, {
      numbers,
      sums,
    })
  }
  writeMeans(numbers, sums, fromHour)
}

/** Writes the means of the metric that the live state averages. */
function writeMeans(numbers: Float64Array, sums: HourSums, fromHour: number): void {
  const lastUs = numbers[lastRow.timeUs] as number
  const metricAt = airMetrics.findIndex((_, at) => (numbers[lastRow.valuesUs + at] as number) > lastUs - dayUs)
  const metric = airMetrics[metricAt]
  if (metric === undefined) return
  numbers[deviceRow.meanMetric] = metricAt
  for (let place = 0; place < deviceHours; place++) {
    numbers[deviceRow.meanCounts + place] = sums.countOf(metric, fromHour + place)
    numbers[deviceRow.means + place] = sums.meanOf(metric, fromHour + place)
  }
}

interface Taken {
  readonly numbers: Float64Array
  readonly sums: HourSums
}

interface TimesAsked {
  readonly afterUs: number
  readonly throughUs: number
  readonly timesMax: number
}

/** Returns ascending milliseconds and writes the last value of each metric into the row. */
async function readTimes(
  { symbol }: Device,
  { afterUs, throughUs, timesMax }: TimesAsked,
  { connection, signal }: Context,
  { numbers, sums }: Taken,
): Promise<Float64Array> {
  const timesMs: number[] = []
  const values = [symbol, afterUs, throughUs, timesMax]
  await connection.read({ name: 'fleet-device', text: deviceSql, values }, signal, (row: PgRow) => {
    const timeUs = Number(row[0])
    timesMs.push(timeUs / 1000)
    const hour = Math.floor(timeUs / hourUs)
    for (let metric = 0; metric < metrics.length; metric++) {
      const value = row[1 + metric]
      if (value === null || value === undefined) continue
      const airMetric = airMetrics[metric]
      if (airMetric !== undefined) sums.add(airMetric, hour, Number(value))
      if (!Number.isNaN(numbers[lastRow.values + metric])) continue
      numbers[lastRow.values + metric] = Number(value)
      numbers[lastRow.valuesUs + metric] = timeUs
    }
  })
  return Float64Array.from(timesMs).reverse()
}

const deviceSql = `SELECT cast(ts AS LONG), ${metrics.join(', ')} FROM ${readingsTable}
  WHERE device = $1 AND ts > $2 AND ts <= $3 ORDER BY ts DESC LIMIT $4`

/** Adds the hours before the fetched readings. Their counts include retries. */
function addHours({ startsMs, metrics: byMetric }: HourlySeries, fromHour: number, { numbers, sums }: Taken): void {
  for (const [row, startMs] of startsMs.entries()) {
    const hour = Math.floor(startMs / hourMs)
    const counts = metrics.map(metric => byMetric[metric].count[row] || 0)
    numbers[deviceRow.counts + hour - fromHour] = Math.max(...counts)
    for (const metric of airMetrics) {
      const { count, mean } = byMetric[metric]
      if ((count[row] as number) > 0) sums.add(metric, hour, mean[row] as number, count[row])
    }
    numbers[deviceRow.firstHour] = Math.min(hour, numbers[deviceRow.firstHour] as number)
  }
}

/** Sums of a device's values by the hour, for the hourly means of the live state. */
class HourSums {
  readonly #fromHour: number
  readonly #hours: number
  readonly #counts: Float64Array
  readonly #sums: Float64Array

  constructor(fromHour: number, hours: number) {
    this.#fromHour = fromHour
    this.#hours = hours
    this.#counts = new Float64Array(hours * airMetrics.length)
    this.#sums = new Float64Array(hours * airMetrics.length)
  }

  /** Values of hours outside the live state's range are skipped. */
  add(metric: AirMetric, hour: number, value: number, count = 1): void {
    const place = hour - this.#fromHour
    if (place < 0 || place >= this.#hours) return
    const at = this.#placeOf(metric, place)
    ;(this.#counts[at] as number) += count
    ;(this.#sums[at] as number) += value * count
  }

  /** Drops the sums of the hours before this one. */
  clearBefore(hour: number): void {
    for (const metric of airMetrics) {
      const from = this.#placeOf(metric, 0)
      this.#counts.fill(0, from, from + hour - this.#fromHour)
      this.#sums.fill(0, from, from + hour - this.#fromHour)
    }
  }

  countOf(metric: AirMetric, hour: number): number {
    return this.#counts[this.#placeOf(metric, hour - this.#fromHour)] as number
  }

  /** NaN without a value. */
  meanOf(metric: AirMetric, hour: number): number {
    return (this.#sums[this.#placeOf(metric, hour - this.#fromHour)] as number) / this.countOf(metric, hour)
  }

  #placeOf(metric: AirMetric, place: number): number {
    return airMetrics.indexOf(metric) * this.#hours + place
  }
}
