/** Times and numbers as the pages show them. */

import t from 'tap'
import { createTimes } from '../../theme/times.ts'
import { countOf, countText, noValue } from '../../web/text/numbers.ts'
import { timeText } from '../../web/text/page-times.ts'
import { noPreferences, preferences } from '../../web/text/preferences.ts'
import {
  builtInQuantities,
  measure,
  measureDifference,
  nameWithin,
  nameWithUnit,
  quantitiesOf,
  valueText,
} from '../../web/text/quantities.ts'
import { ageText, hourText, spanText } from '../../web/text/times.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

t.test('an hour of a day', async t => {
  t.strictSame([0, 7, 14.5, 23.999, 24].map(hourText), ['00:00', '07:00', '14:30', '00:00', '24:00'])
})

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
  const ms = Date.UTC(2026, 10, 23, 12)
  const moment = new Date(ms).toISOString()
  t.equal(timeText(moment), createTimes('UTC').exact(ms), 'pages about no device: UTC')
  preferences.value = { ...noPreferences, time_zone: 'Europe/Berlin' }
  t.equal(timeText(moment), berlin.exact(ms), 'or the zone that is chosen')
  preferences.value = noPreferences
  t.strictSame([timeText(moment), timeText(null)], [createTimes('UTC').exact(ms), 'never'])
})

t.test('a value has its unit and the decimals of its sensor', async t => {
  const plain = (name: string, value: number | null | undefined) =>
    valueText(value, builtInQuantities.of(name)).replaceAll('\u202f', ' ')
  t.equal(plain('temperature', 21.44), '21.4 °C')
  t.equal(plain('temperature', -0.04), '0.0 °C')
  t.equal(plain('temperature', -0.06), '−0.1 °C')
  t.equal(plain('humidity', 48.6), '49 %')
  t.equal(plain('pressure', 1013.25), '1013.3 hPa')
  t.equal(plain('battery_voltage', 3.7), '3.70 V')
  t.equal(plain('co2', 412), '412.00')
  for (const value of [undefined, null, Number.NaN]) t.equal(plain('temperature', value), noValue)
  t.equal(builtInQuantities.of('toString').unit, '')
  t.equal(builtInQuantities.of('pressure').unit, 'hPa')
})

t.test('metrics are shown as answers describe them', async t => {
  const described = quantitiesOf(undefined, {
    co2: { title: 'CO₂', kind: 'gauge', unit: 'ppm', decimals: 0 },
    wind_direction: { title: 'Wind direction', kind: 'direction', unit: '°', decimals: 0 },
    share: { title: 'Share', kind: 'gauge', unit: '1', decimals: 2 },
    door: { title: 'Door open', kind: 'state', unit: null, decimals: 0 },
  })
  const told = (name: string) => [nameWithUnit(described.of(name)), measure(7, described.of(name))]
  t.strictSame(told('co2'), ['CO₂, ppm', '7\u202fppm'])
  t.strictSame(told('wind_direction'), ['Wind direction, °', '7°'])
  t.strictSame(told('share'), ['Share', '7.00'], 'a ratio has no unit')
  t.strictSame(told('door'), ['Door open', '7'])
  t.strictSame(told('temperature'), ['Temperature, °C', '7.0\u202f°C'], 'the built-in ones are known')
  t.equal(described.of('wind').name, 'wind', 'a metric that is not known keeps its name')
  const names = ['CO₂', 'PM2.5', 'UV index', 'pH', 'Wind speed', 'Battery voltage']
  t.strictSame(
    names.map(name => nameWithin({ name })),
    ['CO₂', 'PM2.5', 'UV index', 'pH', 'wind speed', 'battery voltage'],
  )
})

t.test('a value is shown in the unit of its quantity, and a difference without the offset of that', async t => {
  const fahrenheit = { ...builtInQuantities.of('temperature'), unit: '°F', factor: 1.8, offset: 32 }
  t.equal(measure(20, fahrenheit), '68.0\u202f°F')
  t.equal(measureDifference(5, fahrenheit), '9.0\u202f°F')
  t.equal(valueText(-40, fahrenheit), '−40.0\u202f°F')
})

t.test('counts', async t => {
  t.equal(countText(10_000), '10,000')
  t.equal(countOf(1, 'device'), '1 device')
  t.equal(countOf(0, 'device'), '0 devices')
})
