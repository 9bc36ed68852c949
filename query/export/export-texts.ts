/** Writes rows as text: as the lines that an import takes, or as objects with a time in milliseconds. */

import type { ExportColumn } from './export-columns.ts'
import type { Layout } from './export-queries.ts'
import type { ExportRows } from './export-rows.ts'
import { fieldBytesMax, RowBytes } from './row-bytes.ts'

type TextLayout = Exclude<Layout, 'parquet'>
type Columns = readonly Pick<ExportColumn, 'name'>[]

/** Of a row, by column. */
const bytesExpected: Record<TextLayout, number> = { csv: 20, ndjson: 32, rfc4180: 20, lines: 30, array: 30 }

/** What stands between the times and the values of a row. */
interface RowFormat {
  readonly start: string
  readonly isTimeText: boolean
  device(name: string): string
  /** By column: before a value, and instead of a missing one. */
  readonly keys: readonly string[]
  readonly missing: readonly string[]
  readonly end: string
}

/** What stands around the rows of a body. */
interface TextFrame {
  readonly header: string
  /** At the start of every row, and left out before the first one. */
  readonly separator: string
  readonly footer: string
}

const lineEnds = { csv: '\n', rfc4180: '\r\n' }

export function frameOf(layout: TextLayout, columns: Columns): TextFrame {
  if (layout === 'array') return { header: '[', separator: ',', footer: '\n]\n' }
  const isTable = layout === 'csv' || layout === 'rfc4180'
  const header = isTable ? `timestamp,device,${columns.map(({ name }) => name).join()}${lineEnds[layout]}` : ''
  return { header, separator: '', footer: '' }
}

function table(columns: Columns, end: string): RowFormat {
  const commas = columns.map(() => ',')
  return {
    start: '',
    isTimeText: true,
    keys: commas,
    missing: commas,
    end,
    device: name => `Z,${cell(name)}`,
  }
}

/** The import asks for these, if only as null. */
const requiredMetrics = 3

function importLines(columns: Columns): RowFormat {
  const keys = keysOf(columns)
  const missing = keys.map((key, index) => (index < requiredMetrics ? `${key}null` : ''))
  return {
    start: '{"timestamp":"',
    isTimeText: true,
    keys,
    missing,
    end: '}\n',
    device: name => `Z","device":${JSON.stringify(name)}`,
  }
}

/** A time in whole milliseconds, as the other reads have it. */
function objects(columns: Columns, start: string, end: string): RowFormat {
  return {
    start: `${start}{"ts":`,
    isTimeText: false,
    keys: keysOf(columns),
    missing: columns.map(() => ''),
    end,
    device: () => '',
  }
}

function keysOf(columns: Columns): string[] {
  return columns.map(({ name }) => `,"${name}":`)
}

function formatOf(layout: TextLayout, columns: Columns): RowFormat {
  switch (layout) {
    case 'csv':
    case 'rfc4180':
      return table(columns, lineEnds[layout])
    case 'ndjson':
      return importLines(columns)
    case 'lines':
      return objects(columns, '', '}\n')
    case 'array':
      return objects(columns, `${frameOf('array', columns).separator}\n`, '}')
  }
}

/** Those rows whose device has a name. */
export function writeTexts(
  layout: TextLayout,
  columns: Columns,
  { timesUs, devices, values, order }: ExportRows,
  names: ReadonlyMap<number, string>,
): Uint8Array<ArrayBuffer> {
  const format = formatOf(layout, columns)
  const [start, end] = [Buffer.from(format.start), Buffer.from(format.end)]
  const [keys, missing] = [format.keys, format.missing].map(texts => texts.map(text => Buffer.from(text))) as [
    Buffer[],
    Buffer[],
  ]
  const around = keys.reduce((sum, key, index) => sum + Math.max(key.length, missing[index]?.length ?? 0), 0)
  const bytesMax = start.length + around + end.length + (1 + columns.length) * fieldBytesMax
  const deviceTexts = new Map<number, Buffer>()
  const bytes = new RowBytes(order.length * columns.length * bytesExpected[layout])
  for (const row of order) {
    const number = devices[row] as number
    const name = names.get(number)
    if (name === undefined) continue
    let device = deviceTexts.get(number)
    if (device === undefined) {
      device = Buffer.from(format.device(name))
      deviceTexts.set(number, device)
    }
    bytes.reserve(bytesMax + device.length)
    bytes.bytes(start)
    const timeUs = timesUs[row] as number
    if (format.isTimeText) bytes.utc(timeUs)
    else bytes.number(Math.floor(timeUs / 1000))
    bytes.bytes(device)
    for (let index = 0; index < values.length; index++) {
      const value = values[index]?.[row] as number
      if (Number.isNaN(value)) {
        bytes.bytes(missing[index] as Buffer)
      } else {
        bytes.bytes(keys[index] as Buffer)
        bytes.number(value)
      }
    }
    bytes.bytes(end)
  }
  return bytes.finish()
}

/** A name has no line feed. */
function cell(text: string): string {
  return /[",;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
