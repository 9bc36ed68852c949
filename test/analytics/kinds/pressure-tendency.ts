/** Pressure tendency: the selected readings, and its words. */

import { test } from 'tap'
import { pressureTendency, tendencyOf } from '../../../analytics/summary/pressure-tendency.ts'

const minuteMs = 60_000
const endMs = Date.UTC(2026, 10, 21, 12)

/** Readings at minutes before the end. */
function tendency(...readings: [minutesBefore: number, pressure: number][]) {
  const times = Float64Array.from(readings, ([minutes]) => endMs - minutes * minuteMs)
  const pressures = Float64Array.from(readings, ([, pressure]) => pressure)
  return pressureTendency(times, pressures, endMs)
}

test('the change covers three hours', async t => {
  t.strictSame(tendency([240, 990], [180, 1000], [60, 1005], [0, 1002]), { change: 2, tendency: 'rising moderately' })
})

test('a moment uses the nearest reading within 15 minutes', async t => {
  t.equal(tendency([195, 1000], [0, 1002])?.change, 2)
  t.equal(tendency([195.1, 1000], [0, 1002]), null)
  t.equal(tendency([165, 1000], [0, 1002])?.change, 2)
  t.equal(tendency([190, 900], [175, 1000], [166, 900], [0, 1002])?.change, 2)
  t.equal(tendency([185, 1000], [175, 1001], [0, 1002])?.change, 2, 'the earlier of two as near')
  t.equal(tendency([180, 1000], [14, 1002])?.change, 2)
  t.equal(tendency([180, 1000], [16, 1002]), null)
})

test('a missing pressure is not used', async t => {
  t.equal(tendency([183, 1000], [180, Number.NaN], [1, 1002], [0, Number.NaN])?.change, 2)
  t.equal(tendency([180, Number.NaN], [0, 1002]), null)
  t.equal(tendency(), null)
})

test('the words change at 0.1, 1.5, 3.5 and 6 hPa', async t => {
  const words = [0, 0.099, 0.1, 1.5, 1.51, 3.5, 3.51, 6, 6.01].map(tendencyOf)
  const rising = ['slowly', 'slowly', 'moderately', 'moderately', 'quickly', 'quickly', 'very rapidly']
  t.strictSame(words, ['steady', 'steady', ...rising.map(pace => `rising ${pace}`)])
  t.equal(tendencyOf(-0.099), 'steady')
  t.equal(tendencyOf(-2), 'falling moderately')
  t.equal(tendencyOf(999.8 - 999.7), 'rising slowly', 'a tenth, whatever its binary digits')
})
