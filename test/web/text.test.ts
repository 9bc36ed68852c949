/** Times and numbers as the pages show them. */

import t from 'tap'
import { countOf, countText, metricOf, metrics, noValue, valueText } from '../../web/text/numbers.ts'
import { ageText, createTimes, spanText } from '../../web/text/times.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

t.test('a span is told in its largest units', async t => {
  const cases: [number, string][] = [
    [0, '0 s'],
    [999, '0 s'],
    [12 * second, '12 s'],
    [minute, '1 min'],
    [3 * minute + 40 * second, '3 min'],
    [hour, '1 h'],
    [hour + 20 * minute, '1 h 20 min'],
    [23 * hour + 59 * minute, '23 h'],
    [2 * day + 4 * hour, '2 d 4 h'],
    [41 * day + hour, '41 d'],
  ]
  for (const [ms, text] of cases) t.equal(spanText(ms), text)
})

t.test('an age looks back, also where a clock is wrong', async t => {
  t.equal(ageText(0), 'now')
  t.equal(ageText(-500), 'now')
  t.equal(ageText(12 * second), '12 s ago')
  t.equal(ageText(-3 * minute), 'in 3 min')
})

t.test('times are those of the zone, through a change of the clocks', async t => {
  const berlin = createTimes('Europe/Berlin')
  t.equal(berlin.time(Date.UTC(2026, 9, 25, 0, 30)), '02:30')
  t.equal(berlin.time(Date.UTC(2026, 9, 25, 1, 30)), '02:30')
  t.match(berlin.exact(Date.UTC(2026, 9, 25, 0, 30)), /25 Oct 2026, 02:30:00 (?:CEST|GMT\+2)/)
  t.equal(berlin.dateTime(Date.UTC(2026, 11, 31, 23, 5)), '1 Jan 2027, 00:05')
  t.equal(berlin.date(Date.UTC(2026, 11, 31, 23, 5)), '1 Jan 2027')
  t.equal(createTimes('Nowhere/Else').zone, 'UTC')
})

t.test('a value has its unit and the decimals of its sensor', async t => {
  const plain = (name: string, value: number | null | undefined) => valueText(name, value).replaceAll('\u202f', ' ')
  t.equal(plain('temperature', 21.44), '21.4 °C')
  t.equal(plain('temperature', -0.04), '0.0 °C')
  t.equal(plain('temperature', -0.06), '−0.1 °C')
  t.equal(plain('humidity', 48.6), '49 %')
  t.equal(plain('pressure', 1013.25), '1013.3 hPa')
  t.equal(plain('battery_voltage', 3.7), '3.70 V')
  t.equal(plain('co2', 412), '412.00')
  for (const value of [undefined, null, Number.NaN]) t.equal(plain('temperature', value), noValue)
  t.equal(metricOf('toString').unit, '')
  t.equal(metrics.pressure.unit, 'hPa')
})

t.test('counts', async t => {
  t.equal(countText(10_000), '10,000')
  t.equal(countOf(1, 'device'), '1 device')
  t.equal(countOf(0, 'device'), '0 devices')
})
