/** Finds the columns of a reading's fields in a header. */

import { unchanged } from '../../store/metrics/units.ts'
import { metrics } from '../../store/tables.ts'
import { metricNamed } from './mapped-reading.ts'
import { isMetric, type Mapping, type Target } from './mapping.ts'
import type { Layout, MappingOptions, Series } from './mapping-options.ts'
import { isClock, isTimeFormat, type TimeFormat } from './times.ts'
import { conversionOf, type NamedColumn, readColumnName, unitsOf } from './units.ts'

/** The text of the cell, or the fault of the line. */
export type Place = { readonly column: number } | { readonly text: string }
type Convert = (value: number) => number

interface MetricColumn {
  readonly metric: string
  readonly column: number
  readonly convert: Convert
}

export interface TableColumns {
  readonly timestamp: number
  /** The time of day, where the other column has only the date. */
  readonly clock: Place | undefined
  readonly timeFormat: TimeFormat
  /** True if the mapping states it. */
  readonly isFormatGiven: boolean
  /** Undefined where the series determines the device. */
  readonly device: Place | undefined
  readonly values: WideColumns | LongColumns
  /** Names of the columns that are not read. */
  readonly ignored: readonly string[]
  /** The header. */
  readonly names: readonly string[]
  /** Columns that neither the layout nor the mapping names. */
  readonly unnamed: readonly number[]
  /** Metrics whose unit the header does not state. */
  readonly withoutUnit: readonly string[]
}

interface WideColumns {
  readonly kind: 'wide'
  readonly metrics: readonly MetricColumn[]
  /** Columns without a mapping: a text there is ignored and does not reject the line. */
  readonly others: readonly OtherColumn[]
}

interface OtherColumn extends MetricColumn {
  /** The name in the header. */
  readonly name: string
}

interface LongColumns {
  readonly kind: 'long'
  readonly series: number
  readonly value: number
  readonly unit: number | undefined
  readonly seriesOf: (name: string) => MappedSeries | undefined
}

export interface MappedSeries extends Series {
  /** Unit in the mapping. It takes precedence over the line's unit. */
  readonly unit: string | undefined
}

type ColumnOptions = Pick<MappingOptions, 'mapping' | 'units'>

/** A sentence where the header lacks a column. */
export function findColumns(cells: readonly string[], layout: Layout, options: ColumnOptions): TableColumns | string {
  const { mapping } = options
  const header = new Header(cells, layout, options)
  const timestamp = header.column('timestamp')
  if (timestamp === undefined) return header.lacks('timestamp')
  const mapped = mapping.get('timestamp')
  const { unit: format, clock: clockName } = mapped?.kind === 'column' ? mapped : {}
  const isFormatGiven = format !== undefined && isTimeFormat(format)
  const clock = clockName === undefined ? undefined : header.clock(clockName)
  if (clockName !== undefined && clock === undefined) return `the header has no column ${clockName}`
  const device = header.place('device')
  const named = longColumns(header, layout, mapping) ?? namedColumns(header, mapping)
  if (typeof named === 'string') return named
  const unnamed = header.unnamed()
  const values = named.kind === 'long' ? named : withOthers(header, named)
  if (typeof values === 'string') return values
  const isTold = values.kind === 'long' && layout.columns['device'] === undefined && !hasMetrics(mapping)
  if (device === undefined && !isTold) return header.lacks('device')
  const time = { timestamp, clock, timeFormat: isFormatGiven ? format : layout.timeFormat, isFormatGiven }
  const { names, withoutUnit } = header
  return { ...time, device, values, ignored: header.unread(), names, unnamed, withoutUnit }
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

function namedColumns(header: Header, mapping: Mapping): WideColumns | string {
  const columns: MetricColumn[] = []
  for (const metric of new Set([...metrics, ...[...mapping.keys()].filter(isMetric)])) {
    const column = header.column(metric)
    if (column === undefined) {
      if (header.isMapped(metric)) return header.lacks(metric)
      continue
    }
    const convert = header.conversion(metric, column)
    if (typeof convert === 'string') return convert
    columns.push({ metric, column, convert })
  }
  return { kind: 'wide', metrics: columns, others: [] }
}

function withOthers(header: Header, { metrics: columns }: WideColumns): WideColumns | string {
  const others = header.others(columns)
  if (columns.length + others.length === 0) return header.lacks('temperature')
  return { kind: 'wide', metrics: columns, others }
}

/** The service reads as many. */
const othersMax = 150

class Header {
  readonly names: readonly string[]
  readonly withoutUnit: string[] = []
  readonly #units: ReadonlyMap<string, string>
  readonly #columnNames: readonly NamedColumn[]
  readonly #layout: Layout
  readonly #mapping: Mapping
  readonly #read = new Set<number>()

  constructor(cells: readonly string[], layout: Layout, { mapping, units }: ColumnOptions) {
    this.names = cells.map(cell => cell.trim())
    this.#units = units
    this.#columnNames = cells.map(cell => readColumnName(cell))
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

  /** A name that no column has may be a time of day. */
  clock(name: string): Place | undefined {
    const column = this.#findMapped(name)
    if (column !== undefined) return { column }
    return isClock(name) ? { text: name } : undefined
  }

  find(candidates: readonly string[]): number | undefined {
    for (const candidate of candidates) {
      const column = this.#columnNames.findIndex(({ name }) => name === candidate)
      if (column === -1) continue
      this.#read.add(column)
      return column
    }
    return undefined
  }

  /** The whole name is tried first, then the name without the unit. */
  #findMapped(name: string): number | undefined {
    const column = this.names.indexOf(name.trim())
    if (column === -1)
      return this.find([readColumnName(name).name]) ?? this.#findWithoutUnit(readColumnName(name, 'any').name)
    this.#read.add(column)
    return column
  }

  /** Columns that are not read yet and may be metrics: by the name in the layout, in the catalogue, or their own. */
  others(taken: readonly MetricColumn[]): OtherColumn[] {
    const others: OtherColumn[] = []
    const metricsTaken = new Set([...metrics, ...taken.map(({ metric }) => metric)])
    for (const [column, name] of this.names.entries()) {
      const found = this.#read.has(column) || others.length === othersMax ? undefined : this.#otherIn(name)
      if (found === undefined || metricsTaken.has(found.metric)) continue
      const { metric, convert = this.#unstated(metric) } = found
      metricsTaken.add(metric)
      this.#read.add(column)
      others.push({ metric, convert, column, name })
    }
    return others
  }

  /** Converts a stated unit to the catalogue's. For a metric outside the catalogue, the unit is part of the name. */
  #otherIn(cell: string): { metric: string; convert?: Convert } | undefined {
    const { columns, others = {}, noMetrics = [] } = this.#layout
    const { name, unit } = readColumnName(cell, 'any')
    if ([...noMetrics, ...(columns['timestamp'] ?? []), ...(columns['device'] ?? [])].includes(name)) return undefined
    const metric = Object.hasOwn(others, name) ? others[name] : metricNamed(name)
    if (metric === undefined) return undefined
    if (unit === undefined) return { metric }
    const convert = conversionOf(metric, unit)
    if (convert !== undefined) return { metric, convert }
    const whole = metricNamed(cell.normalize('NFKC'))
    return whole === undefined ? undefined : { metric: whole, convert: unchanged }
  }

  #findWithoutUnit(name: string): number | undefined {
    const column = this.names.findIndex(cell => readColumnName(cell, 'any').name === name)
    if (column === -1) return undefined
    this.#read.add(column)
    return column
  }

  conversion(metric: string, column: number): Convert | string {
    const source = this.#mapping.get(metric)
    const given = source?.kind === 'column' ? source.unit : undefined
    const unit = given ?? (unitsOf(metric).length === 0 ? undefined : this.#unitOf(metric, column))
    if (unit === undefined) return this.#unstated(metric)
    return conversionOf(metric, unit) ?? `the column ${this.names[column]} has a unit that ${metric} cannot have`
  }

  #unstated(metric: string): Convert {
    const unit = this.#units.get(metric)
    if (unit === undefined) this.withoutUnit.push(metric)
    return (unit === undefined ? undefined : conversionOf(metric, unit)) ?? unchanged
  }

  #unitOf(metric: string, column: number): string | undefined {
    const unit = readColumnName(this.names[column] ?? '', 'any').unit
    const isColumn = metrics.some(name => name === metric)
    return isColumn ? this.#columnNames[column]?.unit : unit
  }

  lacks(target: Target): string {
    const remedy = target === 'device' ? 'device==porch' : `${target}="name of the column"`
    return `the header has no column for ${target}; name it, such as --map ${remedy}`
  }

  unread(): string[] {
    return this.names.filter((name, column) => name !== '' && !this.#read.has(column))
  }

  unnamed(): number[] {
    return [...this.names.keys()].filter(column => !this.#read.has(column))
  }
}
