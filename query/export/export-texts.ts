/** Writes rows as text: as the lines that an import takes, or as objects with a time in milliseconds. */

import { formatDate } from '../../analytics/time/calendar.ts'
import type { ExportRows, Layout } from './export-queries.ts'
import type { ExportColumn } from './series-table.ts'

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

const [zero, minus, point, colon] = [0x30, 0x2d, 0x2e, 0x3a]
/** Larger numbers, and those with more decimals, are written as JavaScript does. */
const wholeMax = 1e9
const decimalsMax = 4
/** Fits `-1.7976931348623157e+308`, and a time with microseconds. */
export const fieldBytesMax = 32
const secondUs = 1_000_000
const daySeconds = 86_400

export class RowBytes {
  #bytes: Buffer<ArrayBuffer>
  #length = 0
  #day = Number.NaN
  #dateText = Buffer.alloc(0)

  constructor(bytesExpected: number) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(1024, bytesExpected))
  }

  /** Reserves room for `bytes`. The methods below do not check it. */
  reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }

  bytes(text: Uint8Array): void {
    // Short texts are copied faster byte by byte than by a call.
    for (let index = 0; index < text.length; index++) this.#bytes[this.#length++] = text[index] as number
  }

  /** Writes the shortest digits that parse to the same number, as `String` does; -0 keeps its sign. */
  number(value: number): void {
    const magnitude = Math.abs(value)
    for (let decimals = 0, scale = 1; decimals <= decimalsMax && magnitude < wholeMax; decimals++, scale *= 10) {
      const scaled = Math.round(magnitude * scale)
      // A decimal of at most 15 digits is the shortest one of its nearest double.
      if (scaled / scale !== magnitude) continue
      if (value < 0 || Object.is(value, -0)) this.#bytes[this.#length++] = minus
      const whole = Math.floor(scaled / scale)
      this.#digits(whole, digitCount(whole))
      if (decimals === 0) return
      this.#bytes[this.#length++] = point
      this.#digits(scaled - whole * scale, decimals)
      return
    }
    this.#ascii(String(value))
  }

  /** Always in the form `2016-05-30T02:20:00.000000`, so that programs recognize a column of times. */
  utc(timeUs: number): void {
    const seconds = Math.floor(timeUs / secondUs)
    const micros = timeUs - seconds * secondUs
    const day = Math.floor(seconds / daySeconds)
    if (day !== this.#day) {
      this.#day = day
      this.#dateText = Buffer.from(`${formatDate(day)}T`)
    }
    const second = seconds - day * daySeconds
    this.bytes(this.#dateText)
    this.#digits(Math.floor(second / 3600), 2)
    this.#bytes[this.#length++] = colon
    this.#digits(Math.floor(second / 60) % 60, 2)
    this.#bytes[this.#length++] = colon
    this.#digits(second % 60, 2)
    this.#bytes[this.#length++] = point
    this.#digits(micros, 6)
  }

  /** Returns a buffer of exactly the written length. */
  finish(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bytes.subarray(0, this.#length))
  }

  #ascii(text: string): void {
    for (let index = 0; index < text.length; index++) this.#bytes[this.#length++] = text.charCodeAt(index)
  }

  /** The last `count` digits of a whole number below `wholeMax`. */
  #digits(whole: number, count: number): void {
    let rest = whole | 0
    for (let place = this.#length + count - 1; place >= this.#length; place--) {
      const tenth = (rest / 10) | 0
      this.#bytes[place] = zero + rest - tenth * 10
      rest = tenth
    }
    this.#length += count
  }
}

function digitCount(whole: number): number {
  let count = 1
  for (let bound = 10; whole >= bound; bound *= 10) count++
  return count
}
