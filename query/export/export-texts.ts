/** Writes rows as text: as the lines that an import takes, or as objects with a time in milliseconds. */

import type { ExportColumn } from './export-columns.ts'
import type { Layout } from './export-queries.ts'
import type { ExportRows } from './read-piece.ts'
import { fieldBytesMax, RowBytes } from './row-bytes.ts'

type TextLayout = Exclude<Layout, 'parquet'>
type Columns = readonly Pick<ExportColumn, 'name' | 'metric'>[]

/** Estimated bytes of a row, for each column. */
const bytesExpected: Record<TextLayout, number> = { csv: 20, ndjson: 32, rfc4180: 20, lines: 30, array: 30 }

/** The texts between the times and the values of a row. */
interface RowFormat {
  readonly start: string
  readonly isTimeText: boolean
  device(name: string): string
  /** One entry for each column: a text before a value, and a text in place of a missing one. */
  readonly keys: readonly string[]
  readonly missing: readonly string[]
  /** The same for metrics that the device has besides the built-in ones. */
  readonly missingOwn?: readonly string[]
  readonly end: string
}

/** The texts around the rows of a body. */
interface TextFrame {
  readonly header: string
  /** Precedes every row except the first one. */
  readonly separator: string
  readonly footer: string
}

const lineEnds = { csv: '\n', rfc4180: '\r\n' }

export function frameOf(layout: TextLayout, columns: Columns): TextFrame {
  if (layout === 'array') return { header: '[', separator: ',', footer: '\n]\n' }
  const isTable = layout === 'csv' || layout === 'rfc4180'
  const header = isTable
    ? `${['timestamp', 'device', ...columns.map(({ name }) => name)].join()}${lineEnds[layout]}`
    : ''
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

/** The import requires these metrics, with null if missing, and the metrics that a device lists. */
const requiredMetrics: readonly string[] = ['temperature', 'humidity', 'pressure']

function importLines(columns: Columns): RowFormat {
  const keys = keysOf(columns)
  const nulls = keys.map(key => `${key}null`)
  const missing = columns.map(({ name }, index) => (requiredMetrics.includes(name) ? (nulls[index] as string) : ''))
  return {
    start: '{"timestamp":"',
    isTimeText: true,
    keys,
    missing,
    missingOwn: nulls,
    end: '}\n',
    device: name => `Z","device":${JSON.stringify(name)}`,
  }
}

/** A time in whole milliseconds, as in the other reads. */
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

/** The device's part of its rows. */
interface DeviceTexts {
  readonly device: Buffer
  /** One entry for each column. */
  readonly missing: readonly Buffer[]
}

/** Made once for each device. `own` has the indexes of metrics that a device has besides the built-in ones. */
function createDeviceTexts(format: RowFormat, columns: Columns, own: ReadonlyMap<number, Uint8Array>) {
  const { missing, missingOwn = missing } = format
  const withoutOwn = missing.map(text => Buffer.from(text))
  const known = new Map<number, DeviceTexts>()
  return (number: number, name: string): DeviceTexts => {
    let texts = known.get(number)
    if (texts !== undefined) return texts
    const has = own.get(number)
    const withOwn = (text: Buffer, index: number) =>
      has?.[columns[index]?.metric as number] === 1 ? Buffer.from(missingOwn[index] as string) : text
    texts = {
      device: Buffer.from(format.device(name)),
      missing: has === undefined ? withoutOwn : withoutOwn.map(withOwn),
    }
    known.set(number, texts)
    return texts
  }
}

/** Writes the rows of devices with a name. For `own` see `createDeviceTexts`. */
export function writeTexts(
  layout: TextLayout,
  columns: Columns,
  { timesUs, devices, values, order }: ExportRows,
  names: ReadonlyMap<number, string>,
  own: ReadonlyMap<number, Uint8Array>,
): Uint8Array<ArrayBuffer> {
  const format = formatOf(layout, columns)
  const [start, end] = [Buffer.from(format.start), Buffer.from(format.end)]
  const keys = format.keys.map(text => Buffer.from(text))
  const textsOf = createDeviceTexts(format, columns, own)
  // `null` is shorter than a value.
  const around = keys.reduce((sum, key) => sum + key.length, 0)
  const bytesMax = start.length + around + end.length + (1 + columns.length) * fieldBytesMax
  const bytes = new RowBytes(order.length * columns.length * bytesExpected[layout])
  for (const row of order) {
    const number = devices[row] as number
    const name = names.get(number)
    if (name === undefined) continue
    const { device, missing } = textsOf(number, name)
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

/** Names have no line feeds. */
function cell(text: string): string {
  return /[",;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
