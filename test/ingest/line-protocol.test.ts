import { createBuffer, SenderOptions } from '@questdb/nodejs-client'
import fc from 'fast-check'
import { test } from 'tap'
import { encodeName, LineProtocolBuffer } from '../../ingest/forwarder/line-protocol.ts'
import { ReadingRows, rowLength } from '../../ingest/forwarder/rows.ts'
import { recordLengthMax, writeRecord } from '../../ingest/journal/record.ts'
import { metrics, readingsTable } from '../../store/tables.ts'

const options = await SenderOptions.fromConfig('http::addr=127.0.0.1:9000;protocol_version=2;auto_flush=off')

const column = fc.oneof(
  fc.record({ kind: fc.constant('double' as const), value: fc.double() }),
  fc.record({ kind: fc.constant('long' as const), value: fc.integer() }),
  fc.record({ kind: fc.constant('boolean' as const), value: fc.boolean() }),
  fc.record({ kind: fc.constant('string' as const), value: fc.string({ unit: 'binary' }) }),
  fc.record({ kind: fc.constant('timestamp' as const), value: fc.maxSafeInteger() }),
)
type Column = typeof column extends fc.Arbitrary<infer T> ? T : never

const row = fc.record({
  symbols: fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 }),
  columns: fc.array(column, { minLength: 1, maxLength: 6 }),
  timeUs: fc.maxSafeInteger(),
})
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never

function official(rows: Row[]): Buffer {
  const buffer = createBuffer(options)
  for (const { symbols, columns, timeUs } of rows) {
    buffer.table('readings')
    for (const [index, value] of symbols.entries()) buffer.symbol(`symbol ${index}`, value)
    columns.forEach(({ kind, value }, index) => {
      if (kind === 'double') buffer.floatColumn(`column=${index}`, value)
      else if (kind === 'long') buffer.intColumn(`column=${index}`, value)
      else if (kind === 'boolean') buffer.booleanColumn(`column=${index}`, value)
      else if (kind === 'string') buffer.stringColumn(`column=${index}`, value)
      else buffer.timestampColumn(`column=${index}`, BigInt(value), 'us')
    })
    buffer.at(BigInt(timeUs), 'us')
  }
  return Buffer.from(buffer.toBufferView())
}

function addColumn(buffer: LineProtocolBuffer, name: Uint8Array, { kind, value }: Column): void {
  if (kind === 'double') buffer.double(name, value)
  else if (kind === 'long') buffer.long(name, value)
  else if (kind === 'boolean') buffer.boolean(name, value)
  else if (kind === 'string') buffer.string(name, value)
  else buffer.timestamp(name, value)
}

function ours(rows: Row[]): Buffer {
  const buffer = new LineProtocolBuffer(1024 * 1024)
  const table = encodeName('readings')
  for (const { symbols, columns, timeUs } of rows) {
    buffer.table(table)
    for (const [index, value] of symbols.entries()) buffer.symbol(encodeName(`symbol ${index}`), value)
    for (const [index, given] of columns.entries()) addColumn(buffer, encodeName(`column=${index}`), given)
    buffer.at(timeUs)
  }
  return Buffer.from(buffer.bytes.subarray(0, buffer.length))
}

test('the bytes are those of the official client', async t => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), rows => ours(rows).equals(official(rows))),
    { numRuns: 2000 },
  )
  t.pass('2,000 random sets of rows')
})

const metricValue = fc.option(fc.double({ noNaN: true }), { nil: Number.NaN })
const readingRow = fc.record({
  symbol: fc.stringMatching(/^[a-z0-9-]{1,64}$/),
  timeUs: fc.oneof(fc.maxSafeInteger(), fc.integer({ min: 1.7e15, max: 1.8e15 })),
  // A reading has one of them at least; the client would have nothing to send.
  values: fc
    .tuple(metricValue, metricValue, metricValue, metricValue, metricValue)
    .filter(values => !values.every(Number.isNaN)),
})

test('the rows of readings are those of the official client too, and as long as was told before', async t => {
  const same = fc.property(fc.array(readingRow, { minLength: 1, maxLength: 5 }), rows => {
    const expected = createBuffer(options)
    const rowsOfOurs = new ReadingRows(8192)
    for (const { symbol, timeUs, values } of rows) {
      expected.table(readingsTable).symbol('device', symbol)
      const given = metrics.flatMap((name, index) =>
        Number.isNaN(values[index]) ? [] : [[name, values[index]] as const],
      )
      for (const [name, value] of given) expected.floatColumn(name, value ?? 0)
      expected.at(BigInt(timeUs), 'us')
      const record = new Uint8Array(recordLengthMax)
      const view = new DataView(record.buffer)
      const [temperature, humidity, pressure, battery_voltage, battery_percentage] = values
      const reading = { timestampMs: undefined, temperature, humidity, pressure, battery_voltage, battery_percentage }
      writeRecord(view, 0, { number: 1, symbol }, timeUs, false, reading)
      const length = rowsOfOurs.length + rowLength(record, view, 0)
      rowsOfOurs.add(record, view, 0)
      if (rowsOfOurs.length !== length) return false
    }
    return rowsOfOurs.bytes.subarray(0, rowsOfOurs.length).equals(Buffer.from(expected.toBufferView()))
  })
  fc.assert(same, { numRuns: 2000 })
  t.pass('2,000 random sets of readings')
})
