/** Parsers of cells, flat objects and elements of an array, compared with JavaScript. */

import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t, { test } from 'tap'
import { FlatObjectReader } from '../../../ingest/formats/ndjson.ts'
import { readNumber } from '../../../ingest/formats/number.ts'
import { pointRows, readingRows } from '../../../ingest/formats/row-kinds.ts'
import { ArrayLines } from '../../../ingest/import/array-body.ts'
import { ReadTime, readIsoTime } from '../../../store/time-text.ts'
import { runs } from '../../support/runs.ts'

/** Reads from the middle of other bytes, as in a line. */
function numberOf(text: string): number {
  const bytes = Buffer.from(`9${text}9`)
  return readNumber(bytes, 1, bytes.length - 1)
}

function isoTimeOf(text: string): number {
  const bytes = Buffer.from(`9${text}9`)
  return readIsoTime(bytes, 1, bytes.length - 1)
}

t.test('text other than a finite decimal number is NaN', async t => {
  for (const text of '|-|+|.|-.|e5|1e|1.2.3|1,5| 1|1 |0x10|NaN|Infinity|1e999|١|--1'.split('|')) {
    t.ok(Number.isNaN(numberOf(text)), JSON.stringify(text))
  }
})

t.test('any double that is written out comes back, whatever the case of its exponent', async () => {
  const doubles = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer().map(cents => cents / 100),
  )
  const property = fc.property(doubles, value => {
    const text = Object.is(value, -0) ? '-0' : String(value)
    return [text, text.toUpperCase()].every(each => Object.is(numberOf(each), value))
  })
  fc.assert(property)
})

t.test('digits with a point anywhere are read as Number reads them', async () => {
  const property = fc.property(fc.stringMatching(/^[+-]?\d{0,20}\.?\d{0,20}$/), text => {
    const expected = /\d/.test(text) ? Number(text) : Number.NaN
    return Object.is(numberOf(text), expected)
  })
  fc.assert(property)
})

t.test('every moment between the years 0000 and 9999 is read as Date reads it', async () => {
  const [min, max] = [new Date('0000-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59.999Z')]
  const property = fc.property(fc.date({ min, max, noInvalidDate: true }), moment => {
    const text = moment.toISOString()
    return [text, text.replace(/\.\d+/, '')].every(each => isoTimeOf(each) === Date.parse(each))
  })
  fc.assert(property, runs(200, 2000))
})

t.test('microseconds are a fraction of the millisecond and round-trip exactly', async () => {
  const microseconds = fc.integer({ min: Date.UTC(2000, 0) * 1000, max: Date.UTC(2100, 0) * 1000 })
  const property = fc.property(microseconds, timeUs => {
    const text = new Date(Math.floor(timeUs / 1000)).toISOString().replace('Z', `${String(timeUs).slice(-3)}Z`)
    return Math.round(isoTimeOf(text) * 1000) === timeUs
  })
  fc.assert(property, runs(200, 2000))
})

t.test('another form is left to the slower reader', async t => {
  const clocks =
    '|T00:00Z|T00:00:00|T00:00:00+00:00| 00:00:00Z|T24:00:00Z|T00:60:00Z|T00:00:60Z|T00:00:00.12Z|T00:00:00z'
  const others = [...clocks.split('|'), 'T00:00:00.1234567Z', 'T0x:00:00.123Z'].map(clock => `2023-01-01${clock}`)
  for (const text of ['', '2023-01-0aT00:00:00Z', '1700000000000', 'yesterday', ...others]) {
    t.ok(Number.isNaN(isoTimeOf(text)), text)
  }
})

const timestamp = '2026-03-01T10:20:30.456Z'
const timeMs = Date.UTC(2026, 2, 1, 10, 20, 30, 456)
const kinds = { readings: readingRows.columns, points: pointRows.columns }

/** The check's result, which is independent of the parser. */
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
  test(`${kind}: results equal JSON.parse`, async t => {
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

/** The lines, or undefined if the body is not a whole array. */
function linesOf(pieces: readonly Uint8Array[]): string[] | undefined {
  const elements = new ArrayLines()
  let text = ''
  for (const piece of pieces) {
    const lines = elements.take(piece)
    if (lines === undefined) return undefined
    text += Buffer.from(lines).toString('latin1')
  }
  if (!elements.isComplete()) return undefined
  return Buffer.from(text, 'latin1').toString().split('\n').slice(0, -1)
}

function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [0, ...places.map(place => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end))
}

t.test('each element becomes the line that has it, however it is laid out and cut', async t => {
  const anyValues = fc.array(fc.jsonValue(), { maxLength: 8 })
  const anyLayout = fc.record({ indent: fc.constantFrom(undefined, 2, '\t'), hasMark: fc.boolean() })
  const anyPlaces = fc.array(fc.nat(), { maxLength: 12 })
  const property = fc.property(anyValues, anyLayout, anyPlaces, (values, { indent, hasMark }, places) => {
    const bytes = Buffer.from(`${hasMark ? '\ufeff' : ''}${JSON.stringify(values, null, indent)}\r\n `)
    const found = linesOf(cutAt(bytes, places))?.map(line => JSON.parse(line))
    t.strictSame(found, JSON.parse(JSON.stringify(values)))
  })
  fc.assert(property, runs(60, 300))
})

t.test('any bytes are parsed without a throw, alike for every cut, in lines no longer than the body', async () => {
  const part = fc.constantFrom(...'[|]|{|}|"|\\|,|\n| |1|null|{"a":1}|\ufeff|\u0001'.split('|'))
  const texts = fc.array(part, { maxLength: 20 }).map(parts => Buffer.from(parts.join('')))
  const bodies = fc.oneof(texts, fc.uint8Array({ maxLength: 60 }))
  const property = fc.property(bodies, body => {
    const whole = linesOf([body])
    const byteByByte = linesOf(Array.from(body, (_, at) => body.subarray(at, at + 1)))
    const isSame = JSON.stringify(whole) === JSON.stringify(byteByByte)
    return isSame && (whole ?? []).join('\n').length <= body.length
  })
  fc.assert(property, runs(200, 2000))
})

t.test('invalid JSON arrays are rejected while a bad element is one bad line', async t => {
  const lines = (text: string) => linesOf([Buffer.from(text)])
  for (const text of '| |[|[1|[1,|[1,]|[,]|[,1]|{}|"[]"|[]]|[] 1|\ufeff\ufeff[]|1'.split('|')) {
    t.equal(lines(text), undefined, JSON.stringify(text))
  }
  const isJson = (line: string) => {
    try {
      JSON.parse(line)
      return true
    } catch {
      return false
    }
  }
  const judged = (text: string) => lines(text)?.map(isJson)
  t.strictSame(lines('[]'), [])
  t.strictSame(judged('[1,tru,"a\nb",{"a":\n1},[1},2]'), [true, false, false, true, false, true])
  t.strictSame(judged('[{"a":"]},[\\""},3]'), [true, true])
})
