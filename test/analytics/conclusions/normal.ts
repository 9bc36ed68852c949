/** The rank of a value among the same hours of earlier days. */

import { test } from 'tap'
import { type NormalInput, normalFor } from '../../../analytics/normal/normal.ts'

const days = 20
const cells = Array.from({ length: 24 * days }, (_, cell) => cell)
/** Noon of the last day, with each day one higher. */
const input: NormalInput = {
  hourly: Float64Array.from(cells, cell => Math.floor(cell / 24)),
  localHours: Uint8Array.from(cells, cell => cell % 24),
  localDays: Int32Array.from(cells, cell => Math.floor(cell / 24)),
  yearDays: Uint16Array.from(cells, cell => Math.floor(cell / 24)),
  at: { localHour: 12, localDay: days - 1, yearDay: days - 1 },
  value: days - 1,
}

test('percentile, quantiles and their numbers of days are exact', async t => {
  const quantiles = { low: 1.8, median: 9, high: 16.2 }
  const counts = { days: 19, daysLower: 19, daysEqual: 0 }
  t.strictSame(normalFor(input), { percentile: 100, ...quantiles, ...counts, basis: 'hour' })
  t.match(normalFor({ ...input, value: 9 }), { percentile: (100 * 9.5) / 19, daysLower: 9, daysEqual: 1 })
  t.match(normalFor({ ...input, value: -1 }), { percentile: 0 })
})

test('only the same hour of other days counts, once a day', async t => {
  const twice = input.localHours.map(hour => (hour === 13 ? 12 : hour))
  t.match(normalFor({ ...input, localHours: twice }), { days: 19 })
  const hourly = input.hourly.map((value, cell) => (cell % 24 === 12 ? value : 1000))
  t.match(normalFor({ ...input, hourly }), { median: 9 })
})

test('with fewer than ten days there is no usual value', async t => {
  const since = (day: number) => input.hourly.map((value, cell) => (cell < 24 * day ? Number.NaN : value))
  t.equal(normalFor({ ...input, hourly: since(10) }), null)
  t.match(normalFor({ ...input, hourly: since(9) }), { days: 10 })
})
