/** Where a header has the fields of a reading. */

import { unchanged } from '../../metrics/units.ts'
import { metrics } from '../../store/tables.ts'
import { metricNamed } from './mapped-reading.ts'
import { isMetric, type Mapping, type Target } from './mapping.ts'
import type { Layout, Series } from './presets.ts'
import { isTimeFormat, type TimeFormat } from './times.ts'
import { conversionOf, type NamedColumn, readColumnName, unitsOf } from './units.ts'

/** Its text, or what is wrong with the line. */
type Place = { readonly column: number } | { readonly text: string }
type Convert = (value: number) => number

export interface MetricColumn {
  readonly metric: string
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
  /** Of columns that nobody has named: a text there is no value, and no fault of the line. */
  readonly others: readonly OtherColumn[]
}

export interface OtherColumn extends MetricColumn {
  /** As it stands in the header. */
  readonly name: string
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
  const device = header.place('device')
  const values = longColumns(header, layout, mapping) ?? wideColumns(header, mapping)
  if (typeof values === 'string') return values
  const isTold = values.kind === 'long' && layout.columns['device'] === undefined && !hasMetrics(mapping)
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

function wideColumns(header: Header, mapping: Mapping): WideColumns | string {
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
  const others = header.others(columns)
  if (columns.length + others.length === 0) return header.lacks('temperature')
  return { kind: 'wide', metrics: columns, others }
}

/** As many as the service looks at. */
const othersMax = 150

class Header {
  readonly #cells: readonly string[]
  readonly #names: readonly NamedColumn[]
  readonly #layout: Layout
  readonly #mapping: Mapping
  readonly #read = new Set<number>()

  constructor(cells: readonly string[], layout: Layout, mapping: Mapping) {
    this.#cells = cells.map(cell => cell.trim())
    this.#names = cells.map(cell => readColumnName(cell))
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
    if (column === -1)
      return this.find([readColumnName(name).name]) ?? this.#findWithoutUnit(readColumnName(name, 'any').name)
    this.#read.add(column)
    return column
  }

  /** Columns that are not read yet and may be metrics: by the name in the layout, in the catalogue, or their own. */
  others(taken: readonly MetricColumn[]): OtherColumn[] {
    const others: OtherColumn[] = []
    const metricsTaken = new Set([...metrics, ...taken.map(({ metric }) => metric)])
    for (const [column, name] of this.#cells.entries()) {
      const found = this.#read.has(column) || others.length === othersMax ? undefined : this.#otherIn(name)
      if (found === undefined || metricsTaken.has(found.metric)) continue
      metricsTaken.add(found.metric)
      this.#read.add(column)
      others.push({ ...found, column, name })
    }
    return others
  }

  /** A unit that is stated is converted to that of the catalogue; of what is not in there it is a part of the name. */
  #otherIn(cell: string): Pick<MetricColumn, 'metric' | 'convert'> | undefined {
    const { columns, others = {}, noMetrics = [] } = this.#layout
    const { name, unit } = readColumnName(cell, 'any')
    if ([...noMetrics, ...(columns['timestamp'] ?? []), ...(columns['device'] ?? [])].includes(name)) return undefined
    const metric = Object.hasOwn(others, name) ? others[name] : metricNamed(name)
    if (metric === undefined) return undefined
    const convert = unit === undefined ? unchanged : conversionOf(metric, unit)
    if (convert !== undefined) return { metric, convert }
    const whole = metricNamed(cell.normalize('NFKC'))
    return whole === undefined ? undefined : { metric: whole, convert: unchanged }
  }

  #findWithoutUnit(name: string): number | undefined {
    const column = this.#cells.findIndex(cell => readColumnName(cell, 'any').name === name)
    if (column === -1) return undefined
    this.#read.add(column)
    return column
  }

  conversion(metric: string, column: number): Convert | string {
    const source = this.#mapping.get(metric)
    const given = source?.kind === 'column' ? source.unit : undefined
    const unit = given ?? (unitsOf(metric).length === 0 ? undefined : this.#unitOf(metric, column))
    if (unit === undefined) return value => value
    return conversionOf(metric, unit) ?? `the column ${this.#cells[column]} has a unit that ${metric} cannot have`
  }

  #unitOf(metric: string, column: number): string | undefined {
    const unit = readColumnName(this.#cells[column] ?? '', 'any').unit
    const isColumn = metrics.some(name => name === metric)
    return isColumn ? this.#names[column]?.unit : unit
  }

  lacks(target: Target): string {
    const remedy = target === 'device' ? 'device==porch' : `${target}="name of the column"`
    return `the header has no column for ${target}; name it, such as --map ${remedy}`
  }

  unread(): string[] {
    return this.#cells.filter((name, column) => name !== '' && !this.#read.has(column))
  }
}
