/** The fast reader of JSON objects: it says what JSON.parse says, or nothing. */

import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { FlatObjectReader } from '../../ingest/formats/flat-object.ts'
import { ReadTime } from '../../ingest/formats/iso-time.ts'
import { readingRows } from '../../ingest/formats/reading-rows.ts'
import { pointRows } from '../../ingest/formats/row-kinds.ts'
import { runs } from '../support/runs.ts'

const timestamp = '2026-03-01T10:20:30.456Z'
const timeMs = Date.UTC(2026, 2, 1, 10, 20, 30, 456)
const kinds = { readings: readingRows.columns, points: pointRows.columns }

/** As the check sees it, whichever reader it was. */
function comparable(fields: object): object {
  const plain = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return []
    if (value instanceof ReadTime) return [[name, value.ms]]
    const readMs = typeof value === 'string' ? timeOf(name, value) : Number.NaN
    return [[name, Number.isNaN(readMs) ? value : readMs]]
  })
  return Object.fromEntries(plain)
}

function timeOf(name: string, text: string): number {
  if (name !== 'timestamp' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z?$/.test(text)) return Number.NaN
  return Date.parse(text.endsWith('Z') ? text : `${text}Z`)
}

const number = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer({ min: -99_999, max: 99_999 }).map(value => (value / 100).toFixed(2)),
  fc.constantFrom('-0', '0.0', '01', '1.', '.5', '+1', '-', '1e3', '123456789012345', '1234567890123456', '0.1.2'),
)
const text = fc.oneof(
  fc.string().map(value => JSON.stringify(value)),
  fc.constantFrom(`"${timestamp}"`, '"2026-03-01T10:20:30"', '"1970-01-20T00:00:00Z"', '"Zürich 🏔"'),
  fc.constantFrom('"\\u0041"', '"a', '"a\tb"', '"\u0001"'),
)
const value = fc.oneof(number, text, fc.constantFrom('null', 'nul', 'true', '[]', '{}', ''))
const space = fc.constantFrom('', '', '', ' ', '\t', '\r', '\n', ' ')

function lineOf(names: readonly string[]): fc.Arbitrary<string> {
  const name = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...names) },
    fc.constantFrom('other', 'temperatur', 'battery voltage', '__proto__'),
  )
  const member = fc
    .tuple(space, name, space, space, value, space)
    .map(([a, key, b, c, of, d]) => `${a}"${key}"${b}:${c}${of}${d}`)
  return fc
    .tuple(fc.array(member, { maxLength: 8 }), fc.constantFrom('', '', '', '', '}', ',', ' ', '\r'))
    .map(([members, rest]) => `{${members.join()}}${rest}`)
}

for (const [kind, columns] of Object.entries(kinds)) {
  test(`${kind}: what is read is what JSON.parse reads`, async t => {
    const reader = new FlatObjectReader(columns)
    const line = lineOf(columns.map(({ name }) => name))
    let read = 0
    const property = fc.property(line, fc.string({ maxLength: 3 }), (json, before) => {
      const bytes = Buffer.from(`${before}${json}"}, 1}`)
      const start = Buffer.byteLength(before)
      const fields = reader.read(bytes, start, start + Buffer.byteLength(json))
      if (fields === undefined) return
      read++
      deepStrictEqual(comparable(fields), comparable(JSON.parse(json)))
    })
    fc.assert(property, runs(1500, 20000))
    t.ok(read > 20, `${read} objects were read`)
  })
}

test('a time that as a number would mean seconds stays a text', async t => {
  const reader = new FlatObjectReader(kinds.readings)
  const bytes = Buffer.from('{"timestamp":"1970-01-20T00:00:00Z"}')
  t.strictSame(reader.read(bytes, 0, bytes.length)?.['timestamp'], '1970-01-20T00:00:00Z')
})

test('the usual line of each kind is read here, in any order of its members', async t => {
  const values = { temperature: 21.5, humidity: null, pressure: 1013.25, battery_voltage: 3.7 }
  const reading = { timestamp, device: 'porch', ...values }
  const point = { timestamp, sn: 'a1', parameter: 'pm2_5', unit: 'µg/m³', value: -0.25 }
  for (const [columns, object] of [
    [kinds.readings, reading],
    [kinds.points, point],
  ] as const) {
    const reader = new FlatObjectReader(columns)
    for (const members of [Object.entries(object), Object.entries(object).reverse()]) {
      const bytes = Buffer.from(JSON.stringify(Object.fromEntries(members)))
      const fields = reader.read(bytes, 0, bytes.length)
      t.strictSame(fields && comparable(fields), { ...object, timestamp: timeMs })
    }
  }
})
