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

t.test('a decimal number is read to the last bit', async t => {
  for (const text of ['0', '-0', '21.5', '+21.5', '-7.6', '.5', '5.', '1e3', '1E-3', '0.1', '999999999999999']) {
    t.equal(numberOf(text), Number(text), text)
  }
  t.equal(numberOf('0.30000000000000004'), 0.1 + 0.2, 'more digits than one division can take')
  t.equal(numberOf('123456789012345678901234567890'), 1.234_567_890_123_456_8e29)
  t.equal(Object.is(numberOf('-0.0'), -0), true)
})

t.test('what is no finite decimal number is NaN', async t => {
  for (const text of '|-|+|.|-.|e5|1e|1.2.3|1,5| 1|1 |0x10|NaN|Infinity|1e999|١|--1'.split('|')) {
    t.ok(Number.isNaN(numberOf(text)), JSON.stringify(text))
  }
})

t.test('any double that is written out comes back', async () => {
  const doubles = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer().map(cents => cents / 100),
  )
  fc.assert(fc.property(doubles, value => Object.is(numberOf(Object.is(value, -0) ? '-0' : String(value)), value)))
})

t.test('digits with a point anywhere are read as Number reads them', async () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[+-]?\d{0,20}\.?\d{0,20}$/), text => {
      const expected = /\d/.test(text) ? Number(text) : Number.NaN
      return Object.is(numberOf(text), expected)
    }),
  )
})

t.test('every moment between the years 0000 and 9999 is read as Date reads it', async () => {
  const moments = fc.date({
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(moments, moment => timeOf(moment.toISOString()) === moment.getTime()),
    runs(200, 2000),
  )
  fc.assert(
    fc.property(moments, moment => {
      const text = moment.toISOString().replace(/\.\d+/, '')
      return timeOf(text) === Date.parse(text)
    }),
  )
})

t.test('microseconds are a fraction of the millisecond, and come back exactly', async () => {
  const microseconds = fc.integer({ min: Date.UTC(2000, 0) * 1000, max: Date.UTC(2100, 0) * 1000 })
  fc.assert(
    fc.property(microseconds, timeUs => {
      const text = new Date(Math.floor(timeUs / 1000)).toISOString().replace('Z', `${String(timeUs).slice(-3)}Z`)
      return Math.round(timeOf(text) * 1000) === timeUs
    }),
    runs(200, 2000),
  )
})

t.test('another form is left to the slower reader', async t => {
  const others = [
    '',
    '2023-01-01',
    '2023-01-01T00:00Z',
    '2023-01-01T00:00:00',
    '2023-01-01T00:00:00+00:00',
    '2023-01-01 00:00:00Z',
    '2023-01-01T24:00:00Z',
    '2023-01-01T00:60:00Z',
    '2023-01-01T00:00:60Z',
    '2023-01-01T00:00:00.12Z',
    '2023-01-01T00:00:00z',
    '2023-01-0aT00:00:00Z',
    '2023-01-01T00:00:00.1234567Z',
    '2023-01-01T0x:00:00.123Z',
    '1700000000000',
    'yesterday',
  ]
  for (const text of others) t.ok(Number.isNaN(timeOf(text)), text)
})
