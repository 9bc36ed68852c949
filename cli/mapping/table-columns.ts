/** Where a header has the fields of a reading. */

import { type Metric, metrics } from '../../store/tables.ts'
import { isMetric, type Mapping, type Target } from './mapping.ts'
import type { Layout, Series } from './presets.ts'
import { isTimeFormat, type TimeFormat } from './times.ts'
import { conversionOf, type NamedColumn, readColumnName } from './units.ts'

/** Its text, or what is wrong with the line. */
type Place = { readonly column: number } | { readonly text: string }
type Convert = (value: number) => number

export interface MetricColumn {
  readonly metric: number
  readonly column: number
  readonly convert: Convert
}

export interface TableColumns {
  readonly timestamp: number
  readonly timeFormat: TimeFormat
  /** Undefined where the series tells it. */
  readonly device: Place | undefined
  readonly values: WideColumns | LongColumns
  /** Names of the columns that are not read. */
  readonly ignored: readonly string[]
}

interface WideColumns {
  readonly kind: 'wide'
  readonly metrics: readonly MetricColumn[]
}

interface LongColumns {
  readonly kind: 'long'
  readonly series: number
  readonly value: number
  readonly unit: number | undefined
  readonly seriesOf: (name: string) => MappedSeries | undefined
}

interface MappedSeries extends Series {
  /** That the mapping says; it counts more than that of the line. */
  readonly unit: string | undefined
}

/** A sentence where the header lacks a column. */
export function findColumns(cells: readonly string[], layout: Layout, mapping: Mapping): TableColumns | string {
  const header = new Header(cells, layout, mapping)
  const timestamp = header.column('timestamp')
  if (timestamp === undefined) return header.lacks('timestamp')
  const mapped = mapping.get('timestamp')
  const format = mapped?.kind === 'column' ? mapped.unit : undefined
  const timeFormat = format !== undefined && isTimeFormat(format) ? format : layout.timeFormat
  const values = longColumns(header, layout, mapping) ?? wideColumns(header)
  if (typeof values === 'string') return values
  const device = header.place('device')
  const isTold = values.kind === 'long' && layout.columns.device === undefined && !hasMetrics(mapping)
  if (device === undefined && !isTold) return header.lacks('device')
  return { timestamp, timeFormat, device, values, ignored: header.unread() }
}

function hasMetrics(mapping: Mapping): boolean {
  return [...mapping.keys()].some(isMetric)
}

function longColumns(header: Header, { long }: Layout, mapping: Mapping): LongColumns | undefined {
  if (long === undefined) return undefined
  const [series, value] = [header.find(long.series), header.find(long.value)]
  if (series === undefined || value === undefined) return undefined
  const seriesOf = hasMetrics(mapping) ? mappedSeries(mapping) : withoutUnit(long.seriesOf)
  return { kind: 'long', series, value, unit: header.find(long.unit), seriesOf }
}

function mappedSeries(mapping: Mapping): LongColumns['seriesOf'] {
  const series = new Map<string, MappedSeries>()
  for (const [target, source] of mapping) {
    if (isMetric(target) && source.kind === 'column') {
      series.set(source.name, { metric: target, device: undefined, unit: source.unit })
    }
  }
  return name => series.get(name)
}

function withoutUnit(seriesOf: (name: string) => Series | undefined): LongColumns['seriesOf'] {
  return name => {
    const series = seriesOf(name)
    return series && { ...series, unit: undefined }
  }
}

function wideColumns(header: Header): WideColumns | string {
  const columns: MetricColumn[] = []
  for (const [index, metric] of metrics.entries()) {
    const column = header.column(metric)
    if (column === undefined) {
      if (header.isMapped(metric)) return header.lacks(metric)
      continue
    }
    const convert = header.conversion(metric, column)
    if (typeof convert === 'string') return convert
    columns.push({ metric: index, column, convert })
  }
  return columns.length > 0 ? { kind: 'wide', metrics: columns } : header.lacks('temperature')
}

class Header {
  readonly #cells: readonly string[]
  readonly #names: readonly NamedColumn[]
  readonly #layout: Layout
  readonly #mapping: Mapping
  readonly #read = new Set<number>()

  constructor(cells: readonly string[], layout: Layout, mapping: Mapping) {
    this.#cells = cells.map(cell => cell.trim())
    this.#names = cells.map(readColumnName)
    this.#layout = layout
    this.#mapping = mapping
  }

  isMapped(target: Target): boolean {
    return this.#mapping.has(target)
  }

  column(target: Target): number | undefined {
    const place = this.place(target)
    return place !== undefined && 'column' in place ? place.column : undefined
  }

  place(target: Target): Place | undefined {
    const source = this.#mapping.get(target)
    if (source?.kind === 'constant') return { text: source.text }
    const column = source === undefined ? this.find(this.#layout.columns[target] ?? []) : this.#findMapped(source.name)
    return column === undefined ? undefined : { column }
  }

  find(candidates: readonly string[]): number | undefined {
    for (const candidate of candidates) {
      const column = this.#names.findIndex(({ name }) => name === candidate)
      if (column === -1) continue
      this.#read.add(column)
      return column
    }
    return undefined
  }

  /** By its whole name, or else without the unit. */
  #findMapped(name: string): number | undefined {
    const column = this.#cells.indexOf(name.trim())
    if (column === -1) return this.find([readColumnName(name).name])
    this.#read.add(column)
    return column
  }

  conversion(metric: Metric, column: number): Convert | string {
    const source = this.#mapping.get(metric)
    const unit = (source?.kind === 'column' ? source.unit : undefined) ?? this.#names[column]?.unit
    if (unit === undefined) return value => value
    return conversionOf(metric, unit) ?? `the column ${this.#cells[column]} has a unit that ${metric} cannot have`
  }

  lacks(target: Target): string {
    const remedy = target === 'device' ? 'device==porch' : `${target}="name of the column"`
    return `the header has no column for ${target}; name it, such as --map ${remedy}`
  }

  unread(): string[] {
    return this.#cells.filter((name, column) => name !== '' && !this.#read.has(column))
  }
}
