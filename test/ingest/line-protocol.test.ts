import { createBuffer, SenderOptions } from '@questdb/nodejs-client'
import fc from 'fast-check'
import { test } from 'tap'
import { noneAbsent, RowFormat } from '../../ingest/forwarder/row-format.ts'
import { RowBuffer } from '../../ingest/forwarder/rows.ts'
import { readRecord } from '../../ingest/journal/record.ts'
import { readingLengthMax, readings, writeReading } from '../../ingest/readings-table.ts'
import { symbolColumns, type TableDescription } from '../../ingest/table.ts'
import { metrics, readingsTable } from '../../store/tables.ts'
import { runs } from '../support/runs.ts'
import { pointWriter, seriesOf } from './points-table.ts'

const options = await SenderOptions.fromConfig('http::addr=127.0.0.1:9000;protocol_version=2;auto_flush=off')

const value = fc.option(fc.double({ noNaN: true }), { nil: Number.NaN })
const timeUs = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: 1.7e15, max: 1.8e15 }))

const readingRow = fc.record({
  symbol: fc.stringMatching(/^[a-z0-9-]{1,64}$/),
  timeUs,
  // A reading has one of them at least; the client would have nothing to send.
  values: fc.tuple(value, value, value, value, value).filter(values => !values.every(Number.isNaN)),
})

test('the rows of readings are those of the official client, and as long as was computed before', async () => {
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

test('so are those of a table with several symbols, a series number, timestamps and names that have to be escaped', async () => {
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
