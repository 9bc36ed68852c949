/** Readings from chunks of whole lines: of a foreign table, or of line protocol. */

import { isUtf8 } from 'node:buffer'
import type { CustomField } from '../../ingest/custom-fields.ts'
import { readLineProtocol, receiptTimeMs } from '../../ingest/formats/line-protocol.ts'
import type { DeviceOfLine } from '../../ingest/formats/line-protocol-fields.ts'
import { defaultDeviceTags, type LineNames } from '../../ingest/formats/line-protocol-names.ts'
import { readingRows } from '../../ingest/formats/row-kinds.ts'
import { customOf } from '../../ingest/formats/rows.ts'
import type { CustomValues } from '../../ingest/journal/record.ts'
import type { Range } from '../../ingest/reading.ts'
import { metricsMax } from '../../store/metrics/metric.ts'
import { type Metric, metrics } from '../../store/tables.ts'
import { CommandError } from '../command-error.ts'
import type { LineReject } from '../import-batch.ts'
import { columnOf, metricNamed } from './mapped-reading.ts'
import { isMetric } from './mapping.ts'
import type { MappingOptions } from './mapping-options.ts'
import type { HeldReading } from './reading-merger.ts'
import { TableLines } from './table-lines.ts'
import { createTableReader } from './table-reader.ts'
import { type SettledTable, TableSurvey, unitNotices } from './table-survey.ts'
import { conversionOf } from './units.ts'

interface TakenLines {
  lines: number
  readings: HeldReading[]
  rejects: LineReject[]
}

export interface LinesSource {
  /** Throws a CommandError for the file as a whole. */
  take(chunk: Buffer, firstLine: number): TakenLines
  /** Throws a CommandError for a file without a header. */
  end(): void
  /** True if a reading may be parted over several lines, so far. */
  isLong(): boolean
  ignoredColumns(): readonly string[]
  /** Names of ignored columns that hold numbers or times. */
  unreadColumns(): readonly string[]
  /** Sentences about the choice between several possible readings of the file. */
  notices(): readonly string[]
}

const lineBytesMax = 1 << 16
const textLengthMax = 1_000

/** Reads the table for the first time. Throws a CommandError for a question that it leaves open. */
export async function surveyTable(chunks: AsyncIterable<Uint8Array>, options: MappingOptions): Promise<SettledTable> {
  const lines = new TableLines(options)
  const survey = new TableSurvey(options)
  const decode = createDecoder()
  let line = 0
  for await (const chunk of chunks) {
    for (const text of decode(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))) {
      line++
      const row = text.length > lineBytesMax ? undefined : lines.next(text, line)
      if (typeof row === 'object') survey.note(row, line)
    }
  }
  lines.end()
  return survey.settle()
}

export function createTableSource(options: MappingOptions, settled: SettledTable): LinesSource {
  const reader = createTableReader(options, settled)
  const decode = createDecoder()

  function take(chunk: Buffer, firstLine: number): TakenLines {
    const taken: TakenLines = { lines: 0, readings: [], rejects: [] }
    for (const text of decode(chunk)) {
      const line = firstLine + taken.lines++
      const read = text.length > lineBytesMax ? `is longer than ${lineBytesMax} bytes` : reader.read(text, line)
      if (typeof read === 'string')
        taken.rejects.push({ line, code: 'LINE_MALFORMED', reason: read, text: shown(text) })
      else if (read !== undefined) taken.readings.push({ ...read, line })
    }
    return taken
  }

  const { end, isLong, ignoredColumns, unreadColumns } = reader
  return { take, end, isLong, ignoredColumns, unreadColumns, notices: () => settled.notices }
}

/** Cuts chunks into lines. Programs for Windows write their degree signs in its own code page. */
function createDecoder(): (chunk: Buffer) => Generator<string> {
  let encoding: 'utf8' | 'latin1' | undefined
  return chunk => {
    encoding ??= isUtf8(chunk) ? 'utf8' : 'latin1'
    return linesOf(chunk, encoding)
  }
}

function* linesOf(chunk: Buffer, encoding: 'utf8' | 'latin1'): Generator<string> {
  for (let start = 0; start < chunk.length; ) {
    const found = chunk.indexOf(0x0a, start)
    const end = found === -1 ? chunk.length : found
    const text = chunk.toString(encoding, start, end)
    yield text.endsWith('\r') ? text.slice(0, -1) : text
    start = end + 1
  }
}

function shown(text: string): string {
  return text.slice(0, textLengthMax)
}

/** The service checks ranges. */
const anyNumber: Range = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY }
const ranges = {
  temperature: anyNumber,
  humidity: anyNumber,
  pressure: anyNumber,
  battery_voltage: anyNumber,
  battery_percentage: anyNumber,
}

export function createLineProtocolSource(options: MappingOptions): LinesSource {
  const { precision, mapping } = options
  const device = mapping.get('device')
  const names = lineNames(options)
  const deviceDefault = device?.kind === 'constant' ? device.text : undefined
  const fields = new NumberedFields(options)
  const units = new AssumedUnits(options)

  function take(chunk: Buffer, firstLine: number): TakenLines {
    if (firstLine === 1) commentStatements(chunk)
    const result = readLineProtocol(chunk, {
      names,
      precision,
      ranges,
      deviceDefault,
      nowMs: Date.now(),
      aheadMsMax: Number.POSITIVE_INFINITY,
      rejectsMax: Number.POSITIVE_INFINITY,
      deviceOf: () => fields,
    })
    if (result.isTooLong) throw new CommandError('a piece of the line protocol names too many devices')
    const { rows } = result
    const taken: TakenLines = { lines: lineFeedsIn(chunk), readings: [], rejects: [] }
    for (const { line, code, reason } of result.rejects) {
      taken.rejects.push({ line: firstLine + line - 1, code, reason, text: '' })
    }
    for (let row = 0; row < rows.count; row++) {
      const line = firstLine + (rows.lines[row] as number) - 1
      const timeMs = rows.timesMs[row] as number
      const at = row * readingRows.valuesPerRow
      const values = rows.values.slice(at, at + readingRows.valuesPerRow)
      const name = result.names.textOf(rows.names[row] as number)
      const custom = fields.named(rows.custom && customOf(rows.custom, row))
      units.convert(values, custom)
      if (timeMs !== receiptTimeMs) taken.readings.push({ device: name, timeUs: timeMs * 1000, values, custom, line })
      else taken.rejects.push({ line, code: 'READING_INVALID', reason: 'timestamp is required', text: '' })
    }
    return taken
  }

  return {
    take,
    end: () => undefined,
    isLong: () => true,
    ignoredColumns: () => [],
    unreadColumns: () => [],
    notices: () => units.notices(),
  }
}

/** Line protocol states no units. */
class AssumedUnits {
  readonly #units: MappingOptions['units']
  readonly #withoutUnit = new Set<string>()

  constructor({ units }: MappingOptions) {
    this.#units = units
  }

  convert(values: Float64Array, custom: Map<string, number> | undefined): void {
    for (const [index, value] of values.entries()) {
      if (!Number.isNaN(value)) values[index] = this.#converted(metrics[index] as string, value)
    }
    for (const [metric, value] of custom ?? []) custom?.set(metric, this.#converted(metric, value))
  }

  notices(): string[] {
    return unitNotices(this.#withoutUnit)
  }

  #converted(metric: string, value: number): number {
    const unit = this.#units.get(metric)
    if (unit === undefined) this.#withoutUnit.add(metric)
    return unit === undefined ? value : (conversionOf(metric, unit)?.(value) ?? value)
  }
}

const statements = '# DDL\n'
const data = '# DML\n'

/** Statements of `influx_inspect export` before the data, such as `CREATE DATABASE`, become comments. */
function commentStatements(chunk: Buffer): void {
  const from = chunk.subarray(0, headingBytesMax).indexOf(statements)
  const end = chunk.subarray(0, headingBytesMax).indexOf(data)
  if (from === -1 || end < from) return
  for (let at = from; at < end; at++) if (chunk[at - 1] === lineFeed) chunk[at] = numberSign
}

const headingBytesMax = 4096
const lineFeed = 0x0a
const numberSign = 0x23

/** Metrics without a column, numbered in place of a series. The service checks ranges. */
class NumberedFields implements DeviceOfLine {
  readonly metrics = null
  readonly #names: string[] = []
  readonly #numbers = new Map<string, number>()
  readonly #mapped: ReadonlyMap<string, string> | undefined

  constructor({ mapping }: MappingOptions) {
    const mapped = [...mapping].flatMap(([target, source]) => {
      return isMetric(target) && source.kind === 'column' ? [[source.name, target] as const] : []
    })
    this.#mapped = mapping.size > 0 ? new Map(mapped) : undefined
  }

  readonly fieldOf = (field: string): CustomField | undefined => {
    const metric = this.#mapped === undefined ? metricNamed(field) : this.#mapped.get(field)
    if (metric === undefined || columnOf(metric) !== -1) return undefined
    const number = this.#numberOf(metric)
    return number === undefined ? undefined : { series: number, ...anyNumber }
  }

  named(custom: CustomValues | undefined): Map<string, number> | undefined {
    if (custom === undefined) return undefined
    const { series, values } = custom
    return new Map(series.map((number, index) => [this.#names[number] as string, values[index] as number]))
  }

  #numberOf(metric: string): number | undefined {
    const known = this.#numbers.get(metric)
    if (known !== undefined || this.#names.length === metricsMax) return known
    const number = this.#names.push(metric) - 1
    this.#numbers.set(metric, number)
    return number
  }
}

/** Without `--map`, an unknown field is a reject, as by HTTP. With it, the field was left out on purpose. */
function lineNames({ mapping }: MappingOptions): LineNames {
  const device = mapping.get('device')
  const fields = [...mapping].flatMap(([target, source]) =>
    columnOf(target) !== -1 && source.kind === 'column' ? [{ field: source.name, metric: target as Metric }] : [],
  )
  return {
    deviceTags: device?.kind === 'column' ? [device.name] : defaultDeviceTags,
    fields,
    unknownFields: mapping.size > 0 ? 'ignore' : 'reject',
  }
}

function lineFeedsIn(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) count++
  return chunk.at(-1) === 0x0a ? count : count + 1
}
