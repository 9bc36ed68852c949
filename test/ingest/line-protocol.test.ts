import { createBuffer, SenderOptions } from '@questdb/nodejs-client'
import fc from 'fast-check'
import { test } from 'tap'
import { encodeName, LineProtocolBuffer } from '../../ingest/line-protocol.ts'

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

test('a plain symbol is copied from the bytes of a record', async t => {
  const buffer = new LineProtocolBuffer(1024)
  const bytes = Buffer.from('xxkitchen-17yy')
  buffer.table(encodeName('readings'))
  buffer.plainSymbol(encodeName('device'), bytes, 2, 12)
  buffer.boolean(encodeName('ok'), true)
  buffer.at(1_700_000_000_000_001)
  t.equal(buffer.bytes.toString('latin1', 0, buffer.length), 'readings,device=kitchen-17 ok=t 1700000000000001t\n')
})
