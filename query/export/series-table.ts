/** Columns and series of an export, each with its device and its metric. Threads share the memory. */

import type { MetricKind } from '../../store/metrics/metric.ts'
import { metrics as builtIn, hourlyColumns } from '../../store/tables.ts'

/** The number stands for a missing series: the device lists the metric, but has not sent it yet. */
export const noSeries = 0

/** Entries of series, device and index of the metric in the export, ascending by series. */
export type SeriesTable = Uint32Array<SharedArrayBuffer>

const width = 3
export const seriesEmpty: SeriesTable = tableOf(0)

function tableOf(entries: number): SeriesTable {
  return new Uint32Array(new SharedArrayBuffer(entries * width * Uint32Array.BYTES_PER_ELEMENT))
}

/** `entries` has three numbers for each entry, one behind the other. */
export function seriesTable(entries: readonly number[]): SeriesTable {
  const count = entries.length / width
  // Numbers alone sort several times as fast as objects.
  const keys = Float64Array.from({ length: count }, (_, index) => (entries[index * width] as number) * count + index)
  const table = tableOf(count)
  for (const [index, key] of keys.sort().entries()) {
    const from = (key % count) * width
    for (let part = 0; part < width; part++) table[index * width + part] = entries[from + part] as number
  }
  return table
}

/** Index at which the entry of a series begins; -1 when it has none. */
export function placeOfSeries(table: SeriesTable, series: number): number {
  let low = 0
  let high = table.length / width - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = table[middle * width] as number
    if (found === series) return middle * width
    if (found < series) low = middle + 1
    else high = middle - 1
  }
  return -1
}

export function deviceAt(table: SeriesTable, place: number): number {
  return table[place + 1] as number
}

export function metricAt(table: SeriesTable, place: number): number {
  return table[place + 2] as number
}

/** The most series that a statement names. With more series, rows of others are read and skipped. */
const namedInSqlMax = 1000

/** Undefined when there are too many to name. */
export function seriesToName(table: SeriesTable): number[] | undefined {
  if (table.length / width > namedInSqlMax) return undefined
  return Array.from({ length: table.length / width }, (_, index) => table[index * width] as number).filter(
    series => series !== noSeries,
  )
}

/** Each of these devices with an entry has an array with 1 at the indexes of its metrics. */
export function metricsByDevice(
  table: SeriesTable,
  metrics: readonly ExportMetric[],
  devices: ReadonlySet<number>,
): Map<number, Uint8Array> {
  const found = new Map<number, Uint8Array>()
  for (let place = 0; place < table.length; place += width) {
    const device = deviceAt(table, place)
    if (!devices.has(device)) continue
    let has = found.get(device)
    if (has === undefined) {
      has = new Uint8Array(metrics.length)
      found.set(device, has)
    }
    has[metricAt(table, place)] = 1
  }
  return found
}

export interface ExportMetric {
  readonly name: string
  /** Determines the figures of a bucket. */
  readonly kind: MetricKind
}

export interface ExportColumn {
  readonly name: string
  /** Index of its metric in the export. */
  readonly metric: number
  /** Undefined for the values themselves. */
  readonly figure: Figure | undefined
  readonly isCount: boolean
  /** QuestDB's expression over the table of readings, with its name; undefined where the metric has no column there. */
  readonly sql: string | undefined
}

/** `increase` counts from the value before; after a reset it counts from 0. */
type Figure = 'count' | 'mean' | 'sum' | 'increase' | 'last' | 'min' | 'max'

/** Each kind has the figures that make sense for it: totals have no mean, directions no minimum. */
const figuresOf: Readonly<Record<MetricKind, readonly Figure[]>> = {
  gauge: ['count', 'mean', 'min', 'max'],
  rate: ['count', 'sum', 'min', 'max'],
  counter: ['count', 'increase', 'last'],
  direction: ['count', 'mean'],
  state: ['count', 'last', 'min', 'max'],
}

/** Metrics with columns in the table of readings, in their order. */
export const builtInMetrics: readonly ExportMetric[] = builtIn.map(name => ({ name, kind: 'gauge' }))
const builtInNames: ReadonlySet<string> = new Set(builtIn)

export function isBuiltIn({ name }: Pick<ExportMetric, 'name'>): boolean {
  return builtInNames.has(name)
}

export function columnsOf(
  stepUs: number | undefined,
  metrics: readonly ExportMetric[] = builtInMetrics,
): readonly ExportColumn[] {
  if (stepUs !== undefined) return metrics.flatMap(bucketColumnsOf)
  return metrics.map(({ name }, metric) => {
    return { name, metric, figure: undefined, isCount: false, sql: builtInNames.has(name) ? name : undefined }
  })
}

function bucketColumnsOf({ name: ofMetric, kind }: ExportMetric, metric: number): ExportColumn[] {
  return figuresOf[kind].map(figure => {
    const name = `${ofMetric}_${figure}`
    return { name, metric, figure, isCount: figure === 'count', sql: hourlyColumns.find(one => one.name === name)?.sql }
  })
}
