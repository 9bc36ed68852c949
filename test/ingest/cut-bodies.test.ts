/** Bodies of every format, cut at every byte: each request ends, and only sent values are stored. */

import { Readable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import type { Format } from '../../ingest/formats/lines.ts'
import { createImporter } from '../../ingest/import/import.ts'
import { areWholeRecords } from '../../ingest/journal/record.ts'
import { readReading } from '../support/journal-parts.ts'
import { runs } from '../support/runs.ts'

const nowMs = Date.UTC(2026, 5, 1)
let stored: string[] = []

const importer = createImporter({
  kind: 'readings',
  now: () => nowMs,
  limits: { chunkBytes: 256, lineBytesMax: 150 },
  async append(records) {
    const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
    if (!areWholeRecords(view, 0, view.byteLength)) throw new Error('these are not whole records')
    for (let offset = 0; offset < view.byteLength; offset += view.getUint16(offset, true)) {
      const { timeUs, symbol, reading } = readReading(view, offset)
      stored.push(JSON.stringify([timeUs / 1000, symbol, reading.temperature, reading.humidity, reading.pressure]))
    }
    return 'stored'
  },
})
t.teardown(() => importer.close())

type Row = [timeMs: number, device: string, temperature: number, humidity: number, pressure: number]

const row: fc.Arbitrary<Row> = fc.tuple(
  fc.integer({ min: Date.UTC(2001, 0, 1), max: nowMs }),
  fc.constantFrom('kitchen', 'Küche "1"', 'a,b'),
  fc.integer({ min: -900, max: 850 }).map(tenths => tenths / 10),
  fc.integer({ min: 0, max: 1000 }).map(tenths => tenths / 10),
  fc.integer({ min: 3000, max: 11_000 }).map(tenths => tenths / 10),
)

const names = ['timestamp', 'device', 'temperature', 'humidity', 'pressure']
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

function bodyOf(rows: readonly Row[], format: Format): string {
  const objects = rows.map(cells => Object.fromEntries(cells.map((cell, at) => [names[at] ?? '', cell])))
  if (format === 'json') return JSON.stringify(objects, null, 1)
  if (format === 'ndjson') return objects.map(each => JSON.stringify(each)).join('\n')
  const lines = rows.map(([timeMs, device, ...values]) => [timeMs, quoted(device), ...values].join(','))
  return [names.join(','), ...lines].join('\n')
}

async function* broken(bytes: Uint8Array, error: Error | undefined) {
  yield bytes
  if (error !== undefined) throw error
}

async function run(bytes: Uint8Array, format: Format, error?: Error) {
  stored = []
  const body = Readable.from(broken(bytes, error))
  const resolve = async (all: readonly (readonly string[])[]) =>
    all.map(([name = '']) => ({ number: 7, symbol: String(name.length) }))
  const result = await importer.run({ body, format, resolve })
  t.equal(result.report.accepted, stored.length)
  return result
}

const sentOf = (rows: readonly Row[]) =>
  rows.map(([timeMs, device, ...values]) => JSON.stringify([timeMs, String(device.length), ...values]))

for (const format of ['csv', 'ndjson', 'json'] as const) {
  t.test(`${format}: a body that is cut stores whole readings only, those from its beginning`, async t => {
    const property = fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 3 }), async rows => {
      const bytes = Buffer.from(bodyOf(rows, format))
      const sent = sentOf(rows)
      for (let length = 0; length <= bytes.length; length++) {
        const { failure } = await run(bytes.subarray(0, length), format, new Error('aborted'))
        t.equal(failure?.code, 'BODY_BROKEN')
        t.strictSame(stored, sent.slice(0, stored.length), 'the connection was lost')
        // The end of a line of CSV can be missing unnoticed: its length is for HTTP to say.
        const { failure: atEnd } = await run(bytes.subarray(0, length), format)
        const whole = format === 'csv' ? stored.slice(0, -1) : stored
        t.strictSame(whole, sent.slice(0, whole.length), 'the body ended')
        if (format === 'json' && length < bytes.length) t.equal(atEnd?.code, 'JSON_INVALID')
      }
      t.strictSame(stored, sent)
    })
    await fc.assert(property, runs(1, 4))
  })
}

t.test('a compressed body that is cut anywhere is rejected as broken', async t => {
  const rows = fc.sample(row, { numRuns: 5, seed: 7 })
  const packed = gzipSync(bodyOf(rows, 'csv'))
  t.ok(gunzipSync(packed).length > 0)
  for (let length = 0; length < packed.length; length += 7) {
    stored = []
    const body = Readable.from([packed.subarray(0, length)])
    const resolve = async (all: readonly unknown[]) => all.map(() => ({ number: 7, symbol: 'x' }))
    const { failure } = await importer.run({ body, format: 'csv', coding: 'gzip', resolve })
    t.match(failure?.code, length === 0 ? /CONTENT_UNKNOWN|BODY_BROKEN/ : 'BODY_BROKEN', `${length} bytes`)
    t.strictSame(stored, [])
  }
})
