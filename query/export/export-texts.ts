/** Writes rows as text: as the lines that an import takes, or as objects with a time in milliseconds. */

import assert from 'node:assert/strict'
import { utcText } from '../../analytics/time/iso-text.ts'
import { ByteWriter } from '../answers/byte-writer.ts'
import { lastRemembered } from '../last-remembered.ts'
import type { ExportColumn } from './export-columns.ts'
import type { Layout } from './export-queries.ts'
import type { ExportRows } from './export-rows.ts'

type TextLayout = Exclude<Layout, 'parquet'>
type Columns = readonly Pick<ExportColumn, 'name'>[]

/** Text is gathered in pieces of this length, which fit into the processor's cache. */
const pieceLength = 16_384
/** Of a row, by column. */
const bytesExpected: Record<TextLayout, number> = { csv: 20, ndjson: 32, rfc4180: 20, lines: 30, array: 30 }

/** How the parts of a row are written. */
interface RowFormatter {
  head(timeUs: number): string
  device(name: string): string
  value(index: number, value: number): string
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

function table(end: string): RowFormatter {
  return {
    head: timeUs => `${utcText(timeUs)}Z`,
    device: name => `,${cell(name)}`,
    value: (_index, value) => (Number.isNaN(value) ? ',' : `,${numberText(value)}`),
    end,
  }
}

/** The import asks for these, if only as null. */
const requiredMetrics = 3

function importLines(columns: Columns): RowFormatter {
  const keys = keysOf(columns)
  return {
    head: timeUs => `{"timestamp":"${utcText(timeUs)}Z","device":`,
    device: name => JSON.stringify(name),
    value(index, value) {
      if (!Number.isNaN(value)) return `${keys[index]}${numberText(value)}`
      return index < requiredMetrics ? `${keys[index]}null` : ''
    },
    end: '}\n',
  }
}

/** A time in whole milliseconds, as the other reads have it. */
function objects(columns: Columns, start: string, end: string): RowFormatter {
  const keys = keysOf(columns)
  return {
    head: timeUs => `${start}{"ts":${Math.floor(timeUs / 1000)}`,
    device: () => '',
    value: (index, value) => (Number.isNaN(value) ? '' : `${keys[index]}${numberText(value)}`),
    end,
  }
}

function keysOf(columns: Columns): string[] {
  return columns.map(({ name }) => `,"${name}":`)
}

function formatterOf(layout: TextLayout, columns: Columns): RowFormatter {
  switch (layout) {
    case 'csv':
    case 'rfc4180':
      return table(lineEnds[layout])
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
  const { head, device, value, end } = formatterOf(layout, columns)
  const headOf = lastRemembered(head)
  const deviceTexts = new Map<number, string>()
  const writer = new ByteWriter(Number.POSITIVE_INFINITY, order.length * columns.length * bytesExpected[layout])
  let text = ''
  for (const row of order) {
    const number = devices[row] as number
    const name = names.get(number)
    if (name === undefined) continue
    let deviceText = deviceTexts.get(number)
    if (deviceText === undefined) {
      deviceText = device(name)
      deviceTexts.set(number, deviceText)
    }
    text += headOf(timesUs[row] as number) + deviceText
    for (let index = 0; index < values.length; index++) text += value(index, values[index]?.[row] as number)
    text += end
    if (text.length < pieceLength) continue
    writer.utf8(text)
    text = ''
  }
  writer.utf8(text)
  const bytes = writer.finish()
  assert(bytes !== undefined, 'there is no bound')
  return bytes
}

/** The shortest digits that are read as the same number again. */
function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

/** A name has no line feed. */
function cell(text: string): string {
  return /[",;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
