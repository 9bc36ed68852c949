/** The two readers of bytes, held against the language's own Number and Date. */

import fc from 'fast-check'
import t from 'tap'
import { readIsoTime } from '../../ingest/formats/iso-time.ts'
import { readNumber } from '../../ingest/formats/number.ts'
import { runs } from '../support/runs.ts'

/** Reads from the middle of other bytes, as in a line. */
function numberOf(text: string): number {
  const bytes = Buffer.from(`9${text}9`)
  return readNumber(bytes, 1, bytes.length - 1)
}

function timeOf(text: string): number {
  const bytes = Buffer.from(`9${text}9`)
  return readIsoTime(bytes, 1, bytes.length - 1)
}

t.test('what is no finite decimal number is NaN', async t => {
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
    return [text, text.replace(/\.\d+/, '')].every(each => timeOf(each) === Date.parse(each))
  })
  fc.assert(property, runs(200, 2000))
})

t.test('microseconds are a fraction of the millisecond, and come back exactly', async () => {
  const microseconds = fc.integer({ min: Date.UTC(2000, 0) * 1000, max: Date.UTC(2100, 0) * 1000 })
  const property = fc.property(microseconds, timeUs => {
    const text = new Date(Math.floor(timeUs / 1000)).toISOString().replace('Z', `${String(timeUs).slice(-3)}Z`)
    return Math.round(timeOf(text) * 1000) === timeUs
  })
  fc.assert(property, runs(200, 2000))
})

t.test('another form is left to the slower reader', async t => {
  const clocks =
    '|T00:00Z|T00:00:00|T00:00:00+00:00| 00:00:00Z|T24:00:00Z|T00:60:00Z|T00:00:60Z|T00:00:00.12Z|T00:00:00z'
  const others = [...clocks.split('|'), 'T00:00:00.1234567Z', 'T0x:00:00.123Z'].map(clock => `2023-01-01${clock}`)
  for (const text of ['', '2023-01-0aT00:00:00Z', '1700000000000', 'yesterday', ...others]) {
    t.ok(Number.isNaN(timeOf(text)), text)
  }
})
