/** Writes readings as the lines that an import takes: CSV with a header, or NDJSON. */

import assert from 'node:assert/strict'
import { utcText } from '../../analytics/time/iso-text.ts'
import { metrics } from '../../store/tables.ts'
import { ByteWriter } from '../answers/byte-writer.ts'
import { lastRemembered } from '../last-remembered.ts'
import type { ExportFormat } from './export-queries.ts'
import type { ExportRows } from './export-rows.ts'

type LineFormat = Exclude<ExportFormat, 'parquet'>

export const csvHeader = `timestamp,device,${metrics.join(',')}\n`

/** Text is gathered in pieces of this length, which fit into the processor's cache. */
const pieceLength = 16_384
const bytesExpected: Record<LineFormat, number> = { csv: 90, ndjson: 150 }

/** How the parts of a line are written. */
interface LineFormatter {
  head(time: string): string
  device(name: string): string
  metric(index: number, value: number): string
  readonly end: string
}

const csv: LineFormatter = {
  head: time => time,
  device: name => `,${cell(name)}`,
  metric: (_index, value) => (Number.isNaN(value) ? ',' : `,${numberText(value)}`),
  end: '\n',
}

/** The import asks for these, if only as null. */
const requiredMetrics = 3
const keys = metrics.map(metric => `,"${metric}":`)

const ndjson: LineFormatter = {
  head: time => `{"timestamp":"${time}","device":`,
  device: name => JSON.stringify(name),
  metric(index, value) {
    if (!Number.isNaN(value)) return `${keys[index]}${numberText(value)}`
    return index < requiredMetrics ? `${keys[index]}null` : ''
  },
  end: '}\n',
}

/** Those rows whose device has a name. */
export function writeLines(
  format: LineFormat,
  { timesUs, devices, values, order }: ExportRows,
  names: ReadonlyMap<number, string>,
): Uint8Array<ArrayBuffer> {
  const { head, device, metric, end } = format === 'csv' ? csv : ndjson
  const headOf = lastRemembered(timeUs => head(`${utcText(timeUs)}Z`))
  const deviceTexts = new Map<number, string>()
  const writer = new ByteWriter(Number.POSITIVE_INFINITY, order.length * bytesExpected[format])
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
    for (let index = 0; index < values.length; index++) text += metric(index, values[index]?.[row] as number)
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
