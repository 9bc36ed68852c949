/** Line protocol: the rows sent to QuestDB, and bodies parsed in a thread. */

import { createBuffer, SenderOptions } from '@questdb/nodejs-client'
import fc from 'fast-check'
import t, { type Test, test } from 'tap'
import { defaultLineNames, type LineNames } from '../../ingest/formats/line-protocol-names.ts'
import { noneAbsent, RowFormat } from '../../ingest/forwarder/row-format.ts'
import { RowBuffer } from '../../ingest/forwarder/write-request.ts'
import {
  createLineImporter,
  createLineThread,
  type LineImporterOptions,
} from '../../ingest/import/line-protocol-import.ts'
import type { ReadLinesTask } from '../../ingest/import/line-protocol-worker.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import {
  escapeText,
  layoutOf,
  offsetOf,
  type RecordWriter,
  readRecord,
  type Timed,
  writeHeader,
  writeSymbol,
} from '../../ingest/journal/record.ts'
import { defaultRanges } from '../../ingest/reading.ts'
import { readingLengthMax, readings, writeReading } from '../../ingest/readings-table.ts'
import { symbolColumns, type TableDescription } from '../../ingest/table.ts'
import { metrics, readingsTable } from '../../store/tables.ts'
import { runs } from '../support/runs.ts'
import { openTestIngest } from './open-ingest.ts'

interface SeriesRef {
  number: number
  /** Escaped once. */
  symbols: readonly Uint8Array[]
}

function seriesOf(number: number, symbols: readonly string[]): SeriesRef {
  return { number, symbols: symbols.map(escapeText) }
}

interface PointValues extends Timed {
  /** Values in the order of the table's columns. NaN is a missing value. */
  values: readonly number[]
}

function pointWriter(table: TableDescription): RecordWriter<SeriesRef, PointValues> {
  const { kind, lengthMin, symbolsAt } = layoutOf(table)
  const length = ({ symbols }: SeriesRef) => symbols.reduce((sum, symbol) => sum + symbol.length, lengthMin)
  return {
    length,
    write(view, offset, series, timeUs, isBackfill, { values }) {
      writeHeader(view, offset, length(series), kind, series.number, timeUs, isBackfill)
      for (const [index, value] of values.entries()) {
        view.setFloat64(offset + offsetOf.values + 8 * index, value, true)
      }
      return series.symbols.reduce((at, symbol) => writeSymbol(view, at, symbol), offset + symbolsAt)
    },
  }
}

const options = await SenderOptions.fromConfig('http::addr=127.0.0.1:9000;protocol_version=2;auto_flush=off')

const value = fc.option(fc.double({ noNaN: true }), { nil: Number.NaN })
const timeUs = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: 1.7e15, max: 1.8e15 }))

const readingRow = fc.record({
  symbol: fc.stringMatching(/^[a-z0-9-]{1,64}$/),
  timeUs,
  // A reading has at least one value, else the client would send nothing.
  values: fc.tuple(value, value, value, value, value).filter(values => !values.every(Number.isNaN)),
})

test('the rows of readings equal the official client and have the computed length', async () => {
  const format = new RowFormat(readings)
  const same = fc.property(fc.array(readingRow, { minLength: 1, maxLength: 5 }), rows => {
    const expected = createBuffer(options)
    const rowsOfOurs = new RowBuffer(format, 8192)
    for (const { symbol, timeUs, values } of rows) {
      expected.table(readingsTable).symbol('device', symbol)
      for (const [index, value] of values.entries()) {
        if (!Number.isNaN(value)) expected.floatColumn(metrics[index] ?? '', value)
      }
      expected.at(BigInt(timeUs), 'us')
      const record = new Uint8Array(readingLengthMax)
      const view = new DataView(record.buffer)
      const [temperature, humidity, pressure, battery_voltage, battery_percentage] = values
      const reading = { timestampMs: undefined, temperature, humidity, pressure, battery_voltage, battery_percentage }
      writeReading(view, 0, { number: 1, symbol }, timeUs, false, reading)
      const length = rowsOfOurs.length + format.lengthOf(view, 0, noneAbsent)
      rowsOfOurs.add(record, view, 0, noneAbsent)
      if (rowsOfOurs.length !== length) return false
    }
    return rowsOfOurs.bytes.subarray(0, rowsOfOurs.length).equals(Buffer.from(expected.toBufferView()))
  })
  fc.assert(same, runs(150, 2000))
})

/** Names that have to be escaped, several symbols, timestamps among the values. */
const strange: TableDescription = {
  name: 'a table',
  timestamp: 'ts',
  key: ['a=b', 'c d'],
  seriesColumn: 'the series',
  labels: ['e f'],
  columns: [
    { name: 'x y', type: 'double' },
    { name: 'received', type: 'timestamp' },
    { name: 'z', type: 'double' },
  ],
  recordKind: 9,
  symbolBytesMax: 600,
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const strangeRow = fc.record({
  // Written with eight digits always, as the client does from here on.
  series: fc.integer({ min: 1e7, max: 1e8 - 1 }),
  symbols: fc.tuple(text, text, text),
  timeUs,
  x: value,
  // Written with sixteen digits always, as the client does from here on.
  received: fc.option(fc.integer({ min: 1e15, max: Number.MAX_SAFE_INTEGER }), { nil: Number.NaN }),
  z: fc.double({ noNaN: true }),
})

type StrangeRow = typeof strangeRow extends fc.Arbitrary<infer T> ? T : never

function official(rows: readonly StrangeRow[]): Buffer {
  const buffer = createBuffer(options)
  for (const { series, symbols, timeUs, x, received, z } of rows) {
    buffer.table(strange.name)
    for (const [index, name] of symbolColumns(strange).entries()) buffer.symbol(name, symbols[index])
    buffer.intColumn('the series', series)
    if (!Number.isNaN(x)) buffer.floatColumn('x y', x)
    if (!Number.isNaN(received)) buffer.timestampColumn('received', BigInt(received), 'us')
    buffer.floatColumn('z', z).at(BigInt(timeUs), 'us')
  }
  return Buffer.from(buffer.toBufferView())
}

function strangeRecord({ series: number, symbols, timeUs, x, received, z }: StrangeRow): Uint8Array {
  const writer = pointWriter(strange)
  const series = seriesOf(number, symbols)
  const values = { timestampMs: undefined, values: [x, received, z] }
  const record = new Uint8Array(writer.length(series, values))
  writer.write(new DataView(record.buffer), 0, series, timeUs, false, values)
  return record
}

test("rows with symbols, a series number, timestamps and escaped names equal the official client's", async () => {
  const format = new RowFormat(strange)
  const same = fc.property(fc.array(strangeRow, { minLength: 1, maxLength: 5 }), rows => {
    const rowsOfOurs = new RowBuffer(format, 16_384)
    let length = 0
    for (const row of rows) {
      const record = strangeRecord(row)
      const view = new DataView(record.buffer)
      length += format.lengthOf(view, 0, noneAbsent)
      rowsOfOurs.add(record, view, 0, noneAbsent)
      if (readRecord(strange, view, 0).symbols.join('|') !== row.symbols.join('|')) return false
    }
    return length === rowsOfOurs.length && official(rows).equals(rowsOfOurs.bytes.subarray(0, length))
  })
  fc.assert(same, runs(150, 2000))
})

const mebibyte = 1024 ** 2
const timeMs = Date.now() - 3_600_000

/** `earliestMs`: as in a service without a retention. */
function startImporter(t: Test, ingest: LineImporterOptions['ingest'], earliestMs = () => Number.NEGATIVE_INFINITY) {
  const options = { names: defaultLineNames, ranges: defaultRanges, aheadMsMax: 300_000, bodyBytesMax: 32 * mebibyte }
  const importer = createLineImporter({ ingest, ...options, earliestMs })
  t.teardown(() => importer.close())
  return (lines: string) => {
    const resolve = async (names: readonly string[]) => names.map(name => ({ number: 7, symbol: `${name}-7` }))
    const bytes = Uint8Array.from(Buffer.from(lines))
    return importer.run({ bytes, isGzip: false, precision: 'ms', deviceDefault: undefined, resolve })
  }
}

function linesOf(device: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `w,device=${device} temperature=1 ${timeMs + index}\n`).join('')
}

t.test('one of two concurrent bodies is refused as a whole if only one has room', async t => {
  const ingest = openTestIngest(t, { journalBytesMax: 5 * mebibyte })
  const run = startImporter(t, ingest)
  const count = 45_000
  const [first, second] = await Promise.all([run(linesOf('porch', count)), run(linesOf('attic', count))])
  t.strictSame([first.kind, second.kind].sort(), ['full', 'stored'])
  const { bytes, records } = ingest.status().journal
  t.equal(records, count)
  t.ok(bytes > 2.5 * mebibyte && bytes < 5 * mebibyte, 'one has room, and two have none')
})

t.test('bodies of one moment get times of receipt of their own', async t => {
  const ingest = openTestIngest(t)
  const timesUs: number[] = []
  const append: Ingest['append'] = async records => {
    const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
    timesUs.push(view.getFloat64(offsetOf.timeUs, true))
    return await ingest.append(records)
  }
  const run = startImporter(t, { ...ingest, append, clockUs: () => Date.UTC(2026, 0, 1) * 1000 })
  for (let body = 0; body < 3; body++) t.match(await run('w,device=porch temperature=1\n'), { kind: 'stored' })
  t.equal(new Set(timesUs).size, 3)
})

t.test('readings that expire between the look at their lines and their records are rejects', async t => {
  const ingest = openTestIngest(t)
  const looks = [timeMs, timeMs + 2]
  const run = startImporter(t, ingest, () => looks.shift() ?? timeMs + 2)
  const outcome = await run(`${linesOf('porch', 3)}w,device=porch temperature=1\n`)
  t.match(outcome, { kind: 'stored', points: 4, readings: 2, rejected: 2 })
  const rejects = outcome.kind === 'stored' ? outcome.rejects : []
  const reason = /^timestamp must not be before .*: older readings have expired$/
  t.match(
    rejects,
    [1, 2].map(line => ({ line, device: 'porch', code: 'READING_INVALID', reason })),
  )
})

const nowMs = Date.UTC(2026, 5, 1)
const thread = createLineThread()
t.teardown(() => thread.close())
const lines = 'w,device=a temperature=1 1767225600000\nw,device=b temperature=2 1767225600000\n'

async function read(names: LineNames = defaultLineNames, more: Partial<ReadLinesTask> = {}) {
  const result = await thread.read({
    names,
    precision: 'ms',
    ranges: defaultRanges,
    nowMs,
    aheadMsMax: 300_000,
    deviceDefault: undefined,
    rejectsMax: 10,
    body: Uint8Array.from(Buffer.from(lines)),
    isGzip: false,
    bodyBytesMax: 1e6,
    isInTexts: false,
    ...more,
  })
  if (result.kind !== 'read') throw new Error(result.kind)
  return result
}

const devices = ['a', 'b'].map((name, index) => ({ name, number: index + 7, symbol: `${name}-symbol`, authSeq: 3 }))
const unknown = { code: 'DEVICE_UNKNOWN', reason: 'there is none' } as const

async function encode({ rows, names, generation }: Awaited<ReturnType<typeof read>>, resolved: typeof devices) {
  const times = { receiptUs: nowMs * 1000, earliestMs: undefined }
  const { records, count } = await thread.encode(resolved, { rows, names, generation, ...times, rejectsMax: 10 })
  return { count, bytes: Buffer.from(records) }
}

t.test('names are sent as texts until they are resolved, then as numbers', async t => {
  const first = await read()
  t.equal(first.names.parts.text, 'ab')
  t.equal(first.names.known, undefined)
  await encode(first, [devices[0], unknown] as unknown as typeof devices)
  const second = await read()
  t.equal(second.names.parts.text, 'b', 'an unresolved name is sent again')
  t.strictSame([...(second.names.known?.numbers ?? [])], [7, 0])
  t.strictSame(second.names.known?.authSeqs[0], 3)
  await encode(second, devices)
  const third = await read()
  t.equal(third.names.parts.text, '')
  t.strictSame([...(third.names.known?.numbers ?? [])], [7, 8])
})

t.test('records are the same for known, unknown and forgotten names', async t => {
  const inTexts = await encode(await read(defaultLineNames, { isInTexts: true }), devices)
  t.equal(inTexts.count, 2)
  const known = await read()
  t.ok(known.names.known)
  t.strictSame(await encode(known, devices), inTexts)
  const forgotten = await read()
  t.ok(forgotten.names.known)
  const other = await read({ ...defaultLineNames, unknownFields: 'ignore' })
  t.not(other.generation, forgotten.generation)
  t.strictSame(await encode(forgotten, devices), inTexts)
})

t.test('a name whose device has changed is sent as a text from then on', async t => {
  await encode(await read(), devices)
  const { names, generation } = await read()
  const places = [names.known?.places[0] ?? -1]
  await read(defaultLineNames, { isInTexts: true, changed: { places, generation } })
  const again = await read()
  t.equal(again.names.parts.text, 'a')
  t.strictSame([...(again.names.known?.numbers ?? [])], [0, 8])
})
