/** Values and times as the pages show them, in the units that a person has chosen, and how the browser keeps the choice. */

import fc from 'fast-check'
import t from 'tap'
import * as account from '../../../auth/accounts/preference-values.ts'
import type { MetricDescription } from '../../../query/shapes/kinds.ts'
import { conversion, signOf } from '../../../store/metrics/units.ts'
import { languageNames, readStored, writeStored } from '../../../web/client/browser-storage.ts'
import { noValue } from '../../../web/text/phrases.ts'
import { noPreferences, type Preferences, preferences, shownZone, timeText } from '../../../web/text/preferences.ts'
import {
  builtInQuantities,
  describedBy,
  inUnits,
  measure,
  measureDifference,
  nameWithin,
  nameWithUnit,
  quantitiesOf,
  shownValue,
  valueText,
} from '../../../web/text/quantities.ts'
import { ageText, spanText } from '../../../web/text/times.ts'
import { shownUnit, unitChoices, unitPreferences } from '../../../web/text/units.ts'
import { createTimes } from '../../../web/theme/times.ts'

t.afterEach(() => {
  preferences.value = noPreferences
})

const chosen: Preferences = {
  language: 'de',
  temperature_unit: '[degF]',
  pressure_unit: "[in_i'Hg]",
  speed_unit: '[kn_i]',
  time_zone: 'Asia/Tokyo',
}
const gauge = (unit: string | null, decimals = 1) => ({ kind: 'gauge', unit, decimals }) as const
const plain = (text: string) => text.replaceAll('\u202f', ' ')

t.test('the choices equal the account', async t => {
  t.strictSame(unitChoices, {
    temperature_unit: account.temperatureUnits,
    pressure_unit: account.pressureUnits,
    speed_unit: account.speedUnits,
  })
  t.strictSame(languageNames, account.languageNames)
  t.strictSame(noPreferences, account.noPreferences)
})

t.test('a shown value is the conversion of the stored one, whatever is chosen', async () => {
  const stored = ['°C', '°F', 'hPa', 'mbar', 'inHg', 'mmHg', 'm/s', 'km/h', 'kn', 'mph']
  const choice = fc.record({
    language: fc.constant(null),
    temperature_unit: fc.constantFrom(...account.temperatureUnits),
    pressure_unit: fc.constantFrom(...account.pressureUnits),
    speed_unit: fc.constantFrom(...account.speedUnits),
    time_zone: fc.constant(null),
  })
  fc.assert(
    fc.property(
      fc.constantFrom(...stored),
      choice,
      fc.double({ min: -2000, max: 2000, noNaN: true }),
      (unit, chosen, value) => {
        const shown = { ...shownUnit(gauge(unit), chosen), name: '', kind: 'gauge' as const, isNumbered: false }
        const wanted = unitPreferences.map(name => chosen[name]).find(code => conversion(unit, code ?? '').ok)
        const converted = conversion(unit, wanted ?? '')
        return (
          converted.ok &&
          shown.unit === signOf(wanted ?? '') &&
          Math.abs(shownValue(value, shown) - converted.convert(value)) < 1e-8 * Math.max(1, Math.abs(value))
        )
      },
    ),
    { numRuns: 200 },
  )
})

t.test("decimals match the sensor's resolution", async t => {
  const decimals = (unit: string, stored: number, other: Preferences = chosen) =>
    shownUnit(gauge(unit, stored), other).decimals
  t.equal(decimals('°C', 1), 1)
  t.equal(decimals('hPa', 1), 2, '29.92 inHg')
  t.equal(decimals('m/s', 1), 1)
  t.equal(decimals('inHg', 2, { ...chosen, pressure_unit: 'hPa' }), 1)
  t.equal(decimals('inHg', 0, { ...chosen, pressure_unit: 'hPa' }), 0)
  t.equal(decimals('hPa', 1, { ...chosen, pressure_unit: 'mm[Hg]' }), 1)
})

t.test('a value of a mere dimension and one that is not a gauge keep their unit', async t => {
  const stays = (description: Omit<MetricDescription, 'title'>) =>
    t.match(shownUnit(description, chosen), { unit: description.unit ?? '', decimals: 1, factor: 1, offset: 0 })
  for (const unit of [null, 'mm/h', 'in/h', 'Pa', 'kPa', 'bar', 'psi', 'K', '%', '°', 'ppm', 'parsecs'])
    stays(gauge(unit))
  for (const kind of ['counter', 'rate', 'state'] as const) stays({ ...gauge('°C'), kind })
  t.equal(shownUnit(gauge('1'), chosen).unit, '', 'a ratio has none')
  for (const unit of [null, '°', '°C']) {
    t.match(shownUnit({ ...gauge(unit), kind: 'direction' }, chosen), { unit: '°', factor: 1, offset: 0 })
  }
})

t.test('quantities follow the choice at once while differences keep their zero', async t => {
  const wind = quantitiesOf({ wind_speed: { title: 'Wind speed', ...gauge('m/s') } })
  const sentence = () => [
    plain(measure(21.5, builtInQuantities.of('temperature'))),
    plain(measureDifference(5, builtInQuantities.of('temperature'))),
    plain(measure(1013.25, builtInQuantities.of('pressure'))),
    plain(measure(10, wind.of('wind_speed'))),
    plain(measure(20, builtInQuantities.of('dew_point'))),
  ]
  const stored = ['21.5 °C', '5.0 °C', '1013.3 hPa', '10.0 m/s', '20.0 °C']
  t.strictSame(sentence(), stored)
  preferences.value = chosen
  t.strictSame(sentence(), ['70.7 °F', '9.0 °F', '29.92 inHg', '19.4 kn', '68.0 °F'])
  t.equal(shownZone('Europe/Berlin'), 'Asia/Tokyo')
})

function storageOf(text: string | null) {
  let stored = text
  const storage = {
    getItem: () => stored,
    setItem(_key: string, value: string) {
      stored = value
    },
  }
  return () => storage
}

t.test('the browser restores its stored values, except invalid ones', async t => {
  const storage = storageOf(null)
  t.strictSame(readStored(storage), { preferences: noPreferences, isCopy: false })
  writeStored(storage, { preferences: chosen, isCopy: true })
  t.strictSame(readStored(storage), { preferences: chosen, isCopy: true })
  const fail = () => {
    throw new Error('forbidden, or full')
  }
  for (const broken of [fail, () => ({ getItem: fail, setItem: fail })]) {
    t.strictSame(readStored(broken).preferences, noPreferences)
    writeStored(broken, { preferences: chosen, isCopy: false })
  }
  const fields = fc.dictionary(
    fc.constantFrom(...Object.keys(noPreferences), 'isCopy', '__proto__'),
    fc.oneof(fc.constantFrom('Cel', 'hPa', 'm/s', 'UTC', 'Europe/Atlantis'), fc.jsonValue()),
  )
  const text = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }),
    fields.map(value => JSON.stringify(value)),
  )
  fc.assert(
    fc.property(text, text => {
      const read = readStored(storageOf(text))
      return account.Preferences.strict().safeParse(read.preferences).success && typeof read.isCopy === 'boolean'
    }),
    { numRuns: 300 },
  )
})

t.test('values of an answer are in its own unit, whatever others of the same metric are in', async t => {
  const no2 = (unit: string, decimals: number) => ({ no2: { title: 'NO₂', kind: 'gauge', unit, decimals } as const })
  const known = quantitiesOf(no2('ppb', 0))
  t.equal(plain(measure(0.021, describedBy(known, no2('ppm', 3)).of('no2'))), '0.021 ppm')
  t.equal(plain(measure(21, describedBy(known, {}).of('no2'))), '21 ppb')
  t.equal(plain(measure(0.021, inUnits(known, { no2: 'ppm' }).of('no2'))), '0.021 ppm')
  t.equal(plain(measure(21, inUnits(known, { no2: 'ppb', o3: 'ppm' }).of('no2'))), '21 ppb')
  t.equal(plain(measure(21, inUnits(quantitiesOf(no2('ppm', 3)), { no2: 'ppb' }).of('no2'))), '21 ppb')
  t.equal(plain(measure(12, inUnits(known, { no2: 'ugm3' }).of('no2'))), '12 µg/m³')
})

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]

t.test('a span has its largest units', async t => {
  const spans = [999, 12 * second, 3 * minute + 40 * second, hour + 20 * minute, 2 * day + 4 * hour, 41 * day + hour]
  t.equal(spans.map(spanText).join(), '0 s,12 s,3 min,1 h 20 min,2 d 4 h,41 d')
})

t.test('an age looks back, also where a clock is wrong', async t => {
  t.equal(ageText(0), 'now')
  t.equal(ageText(-500), 'now')
  t.equal(ageText(12 * second), '12 s ago')
  t.equal(ageText(-3 * minute), 'in 3 min')
})

t.test('times are in the zone, through a change of the clocks', async t => {
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
  const sentence = (name: string, value: number | null | undefined) =>
    valueText(value, builtInQuantities.of(name)).replaceAll('\u202f', ' ')
  t.equal(sentence('temperature', 21.44), '21.4 °C')
  t.equal(sentence('temperature', -0.04), '0.0 °C')
  t.equal(sentence('temperature', -0.06), '−0.1 °C')
  t.equal(sentence('humidity', 48.6), '49 %')
  t.equal(sentence('pressure', 1013.25), '1013.3 hPa')
  t.equal(sentence('battery_voltage', 3.7), '3.70 V')
  t.equal(sentence('co2', 412), '412.00')
  for (const value of [undefined, null, Number.NaN]) t.equal(sentence('temperature', value), noValue)
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
  const sentence = (name: string) => [nameWithUnit(described.of(name)), measure(7, described.of(name))]
  t.strictSame(sentence('co2'), ['CO₂, ppm', '7\u202fppm'])
  t.strictSame(sentence('wind_direction'), ['Wind direction, °', '7°'])
  t.strictSame(sentence('share'), ['Share', '7.00'], 'a ratio has no unit')
  t.strictSame(sentence('door'), ['Door open', '7'])
  t.strictSame(sentence('temperature'), ['Temperature, °C', '7.0\u202f°C'], 'the built-in ones are known')
  t.equal(described.of('wind').name, 'wind', 'a metric that is not known keeps its name')
  const names = ['CO₂', 'PM2.5', 'UV index', 'pH', 'Wind speed', 'Battery voltage']
  t.strictSame(
    names.map(name => nameWithin({ name })),
    ['CO₂', 'PM2.5', 'UV index', 'pH', 'wind speed', 'battery voltage'],
  )
})
