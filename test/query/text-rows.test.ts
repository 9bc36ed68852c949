/** Lines made of QuestDB's own text are those that are made of its numbers, byte by byte. */

import fc from 'fast-check'
import t from 'tap'
import { builtInMetrics, columnsOf } from '../../query/export/export-columns.ts'
import { linePartsOf, writeTexts } from '../../query/export/export-texts.ts'
import { rewriteRows, textHeaderOf } from '../../query/export/text-rows.ts'
import { createQuestdbText } from '../../query/questdb/questdb-text.ts'
import { readingsTable } from '../../store/tables.ts'
import { startQuestdb } from '../support/questdb.ts'
import { stays } from './query-at.ts'

const names = builtInMetrics.map(({ name }) => name)
const header = textHeaderOf(names)
const device = 'Küche "1", left'
const symbol = 'k-7'
const rowsMax = 1000
const startMs = Date.UTC(2026, 4, 1)

function written(
  timesUs: readonly number[],
  values: readonly (readonly number[])[],
  layout: 'csv' | 'rfc4180',
): string {
  const rows = {
    timesUs: Float64Array.from(timesUs),
    devices: new Float64Array(timesUs.length).fill(7),
    values: names.map((_, column) => Float64Array.from(values, row => row[column] as number)),
    order: Uint32Array.from(timesUs.keys()),
  }
  return Buffer.from(writeTexts(layout, columnsOf(undefined), rows, new Map([[7, device]]), new Map())).toString()
}

t.test('of any numbers that QuestDB stores', async t => {
  const questdb = await startQuestdb(t)
  const source = createQuestdbText({ questdb: questdb.address, connectTimeoutMs: 60_000, statementTimeoutMs: 600_000 })
  t.teardown(source.close)
  const decimal = fc
    .tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.nat(12))
    .map(([digits, scale]) => digits / 10 ** scale)
  const number = fc.oneof(
    decimal,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, -0, 1e7, 1e-3, 1e21, 2e-44),
    fc.constant(Number.NaN),
  )
  const row = fc.tuple(number, number, number, number, number)
  const property = fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: rowsMax, size: 'max' }), async rows => {
    await questdb.clear()
    const present = rows.map(values => (values.every(Number.isNaN) ? [1, ...values.slice(1)] : values))
    await questdb.write(
      present.map((values, index) => ({
        symbol,
        time: `${new Date(startMs + index * 1000).toISOString().slice(0, -1)}${String(index % 1000).padStart(3, '0')}Z`,
        ...Object.fromEntries(
          names.map((name, column) => [name, values[column]]).filter(([, value]) => !Number.isNaN(value)),
        ),
      })),
    )
    // As a literal a zero has no sign.
    const columns = names.map(name => `-1.0 * ${name} ${name}`).join(', ')
    const sql = `SELECT ts, ${columns} FROM ${readingsTable} WHERE device = '${symbol}'`
    const negated = present.map(values => values.map(value => (Object.is(value, -0) ? -0 : -value)))
    const text = await source.read({ sql, bytesMax: 10_000_000 }, stays())
    const timesUs = present.map((_, index) => (startMs + index * 1000) * 1000 + (index % 1000))
    for (const layout of ['csv', 'rfc4180'] as const) {
      const made = rewriteRows(text as Buffer, names, linePartsOf(layout, device))
      t.equal(made?.rows, present.length)
      t.equal(made?.lastUs, timesUs.at(-1))
      t.equal(Buffer.from(made?.bytes ?? []).toString(), written(timesUs, negated, layout))
    }
  })
  const seed = Number(process.env['SEED'] ?? Date.now() % 1e9)
  t.comment(`seed ${seed}`)
  await fc.assert(property, { seed, numRuns: 5 })
})

const line = '"2026-05-01T00:00:00.000001Z",1.5,,-0.0,1.0E-10,100.0\r\n'
const parts = linePartsOf('rfc4180', 'porch')
const made = (text: string) => {
  const rows = rewriteRows(Buffer.from(text), names, parts)
  return rows && Buffer.from(rows.bytes).toString()
}

t.test('values as JavaScript writes them, and long lines of short ones', async t => {
  t.equal(made(header), '')
  t.equal(made(header + line), '2026-05-01T00:00:00.000001Z,porch,1.5,,-0,1e-10,100\r\n')
  // Texts that grow more than the text before them gives room for.
  const times = Array.from({ length: 600 }, (_, index) => new Date(startMs + index).toISOString().slice(0, -1))
  const grown = times.map(time => `"${time}000Z",1.0E20,1.0E20,1.0E20,1.0E20,1.0E20\r\n`)
  const expected = times.map(time => `${time}000Z,porch${',100000000000000000000'.repeat(5)}\r\n`)
  t.equal(made(header + grown.join('')), expected.join(''))
})

t.test('text of another form gives nothing', async t => {
  const others = [
    '',
    'an error',
    '"ts","temperature"\r\n',
    header.replace('"ts"', '"time"'),
    `${header}${line.slice(0, -1)}`,
    `${header}${line.slice(0, -2)}`,
    `${header}${line.slice(0, 20)}`,
    header + line.replace('Z"', '+"'),
    header + line.replace('100.0', '100.0,1.0'),
    header + line.replace(',100.0', ''),
    header + line.replace('1.5', 'null'),
    header + line.replace('1.5', '"1.5"'),
    header + line.replace('1.5', 'Infinity'),
    header + line.replace('1.5', '1'.repeat(40)),
    header + line + line,
    header + line + line.replace('000001', '000000'),
    `${header}${line}{"error":"timeout"}`,
  ]
  for (const text of others) t.equal(made(text), undefined, text.slice(0, 120))
})
