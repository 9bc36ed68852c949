/** Metrics and their units: names, the catalogue, spellings of senders and conversions. */

import fc from 'fast-check'
import { test } from 'tap'
import { catalogue, catalogueEntry } from '../../store/metrics/catalogue.ts'
import { Metric, MetricChange, metricKinds, NewMetric } from '../../store/metrics/metric.ts'
import { isMetricName, MetricName, metricNameOf, timeFieldOf, titleOfName } from '../../store/metrics/metric-name.ts'
import { conversion, signOf, unitOf, units } from '../../store/metrics/units.ts'
import { metrics as columns } from '../../store/tables.ts'
import { runs } from '../support/runs.ts'

test('a name is 1 to 48 of a-z, 0-9 and _, begins with a letter, and is not reserved', async t => {
  for (const name of ['x', 'co2', 'pm2_5', 'a_', `a${'b'.repeat(47)}`, 'constructor']) t.ok(isMetricName(name), name)
  const wrong = '|_a|2a|A|a-b|a b|ä|a\n|device|timestamp|dew_point|hours|d'.split('|')
  for (const name of [...wrong, `a${'b'.repeat(48)}`]) t.notOk(isMetricName(name), JSON.stringify(name))
  const property = fc.property(fc.string({ unit: 'binary', maxLength: 60 }), text => {
    return isMetricName(text) === MetricName.safeParse(text).success
  })
  fc.assert(property, runs(1000, 5000))
})

test('the fields of senders stand for names', async t => {
  const spellings = 'wind_speed|windSpeed|WindSpeed|Wind Speed|wind-speed| wind.speed |WIND_SPEED'
  const named: [name: string | undefined, fields: string[]][] = [
    ['wind_speed', spellings.split('|')],
    ['pm2_5', ['PM2.5']],
    ['co2_ppm', ['CO2 (ppm)']],
    ['temp_rature', ['température']],
    [undefined, ['', '%', '2nd', 'Timestamp', 'x'.repeat(49), `x${' '.repeat(64)}`]],
  ]
  for (const [name, fields] of named) {
    for (const field of fields) t.equal(metricNameOf(field), name, JSON.stringify(field))
  }
})

test('any field has at most one name, and a name is its own', async () => {
  const property = fc.property(fc.string({ unit: 'binary', maxLength: 80 }), field => {
    const name = metricNameOf(field)
    return name === undefined || (MetricName.safeParse(name).success && metricNameOf(name) === name)
  })
  fc.assert(property, runs(1000, 5000))
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z][a-z0-9]{0,10}(_[a-z0-9]{1,10}){0,3}$/), name => {
      const isName = isMetricName(name) && timeFieldOf(name) === undefined
      return metricNameOf(name) === (isName ? name : undefined)
    }),
  )
})

test('ranges of the catalogue allow the noise of real sensors around zero', async t => {
  const noise = { no2: -0.43, o3: -3, so2: -1.2, pm25: -0.8, pm10: -2, co: -0.05, solar_radiation: -3.1, par: -1 }
  const others = { uv_index: -0.1, wind_speed: -0.2, soil_moisture: -3, snow_depth: -1, turbidity: -0.3, hcho: -1 }
  for (const [name, value] of Object.entries({ ...noise, ...others })) {
    t.ok(value >= (catalogueEntry(name)?.min ?? 0), name)
  }
  const codes = { pm25: -999, no2: -999, solar_radiation: -999, soil_moisture: -99, wind_speed: -99 }
  for (const [name, value] of Object.entries(codes)) t.ok(value < (catalogueEntry(name)?.min ?? -1e9), name)
})

test('no name of a time is one of a new metric, nor does a field of such a name stand for one', async t => {
  for (const field of ['time', 'Time', 'dateTime', 'epoch', 'unixtime', 'created_at', 'receivedAt', 'last_seen']) {
    t.equal(metricNameOf(field), undefined, field)
  }
  t.notOk(NewMetric.safeParse({ name: 'created_at' }).success)
  t.ok(MetricName.safeParse('created_at').success, 'one from before goes on')
})

test('the catalogue has unique names and aliases, known units, and nonempty ranges', async t => {
  t.ok(catalogue.length >= 60 && catalogue.length <= 100, `${catalogue.length} metrics`)
  const names = catalogue.flatMap(({ name, aliases }) => [name, ...aliases])
  t.equal(new Set(names).size, names.length, 'none stands there twice')
  for (const entry of catalogue) {
    const { name, title, aliases, unit, min, max, decimals } = entry
    t.ok(isMetricName(name), name)
    // An alias is the result of metricNameOf for a field. It need not be a valid name of a metric.
    for (const alias of aliases) t.match(alias, /^[a-z][a-z0-9_]{0,47}$/, alias)
    for (const text of [name, ...aliases]) t.equal(catalogueEntry(text), entry, text)
    if (unit !== null) t.equal(unitOf(unit)?.code, unit, `${name} in ${unit}`)
    t.ok((min ?? -Infinity) < (max ?? Infinity), `${name} from ${min} to ${max}`)
    const { aliases: _, ...fields } = entry
    t.strictSame(NewMetric.parse(fields), fields, `${name} can be made`)
    t.ok(title.length <= 40 && decimals <= 3, name)
  }
  t.strictSame(new Set(catalogue.map(({ kind }) => kind)), new Set(metricKinds))
  for (const column of columns) t.ok(catalogueEntry(column), column)
  t.equal(catalogueEntry('co2_ppm')?.name, 'co2')
  t.equal(catalogueEntry('pm2_5')?.name, 'pm25')
  t.equal(catalogueEntry('constructor'), undefined)
})

test('a new or changed metric is checked and gets the code of its unit', async t => {
  t.strictSame(NewMetric.parse({ name: 'sap_flow', unit: 'l/h' }), { name: 'sap_flow', unit: 'L/h' })
  const refused: [path: string, ...sent: object[]][] = [
    ['unit', { unit: 'furlong' }, { unit: 'x'.repeat(33) }],
    ['kind', { kind: 'vector' }],
    ['decimals', { decimals: 11 }, { decimals: 0.5 }],
    ['min', { min: 2, max: 2 }],
    ['color', { color: 'red' }],
    ['title', { title: '' }, { title: 'a\u0007' }],
    ['position', { position: -1 }],
    ['quality.min', { quality: { min: 2, max: 1 } }],
    ['name', { name: 'A' }],
    ['', { size: 1 }],
  ]
  for (const [path, ...all] of refused) {
    for (const sent of all) {
      const issues = NewMetric.safeParse({ name: 'x', ...sent }).error?.issues ?? []
      t.equal(issues.map(issue => issue.path.join('.')).join(), path, JSON.stringify(sent))
    }
  }
  t.match(MetricChange.safeParse({}).error?.issues[0]?.message, /at least one field/)
  t.notOk(MetricChange.safeParse({ name: 'b' }).success, 'the name stays')
  t.equal(titleOfName('sap_flow'), 'Sap flow')
  t.ok(Object.keys(Metric.shape).includes('built_in'))
})

function converted(value: number, from: string, to: string): number | string {
  const found = conversion(from, to)
  return found.ok ? found.convert(value) : found.reason
}

test('a unit is found in the spellings of senders', async t => {
  const is = (code: string, ...texts: string[]) => {
    for (const text of texts) t.equal(unitOf(text)?.code, code, text)
  }
  is('Cel', '°C', '℃', 'C', 'c', 'degC', 'deg C', 'ºC', '˚C', 'CELSIUS', ' °c ', 'Â°C', '\ufffdC')
  is('[degF]', '°F', '℉', 'F', 'f', 'degF', 'Fahrenheit', 'Â°F', '\ufffdF')
  is('hPa', 'HPA', 'hpa', '㍱')
  is("[in_i'Hg]", 'in Hg', 'in. Hg', 'INHG')
  is('[mi_i]/h', 'mph', 'MPH')
  is('km/h', 'kmh', 'kph', 'km/hr', 'KM/H')
  is('[kn_i]', 'kt', 'knots')
  is('ms', 'ms', 'MS', 'msec')
  is('ug/m3', 'µg/m3', 'μg/m³', 'µg/m³', 'ug/m^3', 'UG/M3')
  is('mW', 'mW')
  is('MW', 'MW')
  is('kW.h', 'kWh', 'KWH', 'kW·h')
  is('%', 'percent', '%RH', '% rh')
})

test('an unknown or ambiguous unit is rejected', async t => {
  for (const text of ['', ' ', 'x', 'constructor', '__proto__', 'M', 'T', 'D', 'mw', 'MJ '.repeat(20), '\ufffdg/m3']) {
    t.equal(unitOf(text), undefined, JSON.stringify(text))
  }
})

test('values are converted as the standards say', async t => {
  const is = (value: number, from: string, to: string, wanted: number) =>
    t.equal(converted(value, from, to), wanted, `${value} ${from} in ${to}`)
  is(212, '°F', 'Cel', 100)
  is(-40, '°F', 'Cel', -40)
  is(300, 'K', 'Cel', 26.85)
  is(0, 'K', '[degF]', -459.67)
  is(29.92, 'inHg', 'hPa', 1013.20748907)
  is(760, 'mmHg', 'hPa', 1013.25014435)
  is(101_325, 'Pa', 'hPa', 1013.25)
  is(1013.25, 'mbar', 'hPa', 1013.25)
  is(100, 'mph', 'm/s', 44.704)
  is(36, 'km/h', 'm/s', 10)
  is(1, 'kn', 'm/s', 0.514444444444)
  is(1, 'in', 'mm', 25.4)
  is(1, 'ft', 'm', 0.3048)
  is(0.5, 'in/h', 'mm/h', 12.7)
  is(0.35, 'm3/m3', '%', 35)
  is(1500, 'ppb', 'ppm', 1.5)
  is(3600, 'kJ', 'kW.h', 1)
  is(0.000_25, 'g/m3', 'ug/m3', 250)
  is(1e-7, 'mm', 'm', 1e-10)
})

test('a conversion is refused where the dimensions differ, with the units named', async t => {
  t.equal(converted(1, 'kPa', 'Cel'), 'the unit "kPa" cannot be converted to °C')
  t.equal(converted(1, 'm/s', 'deg'), 'the unit "m/s" cannot be converted to °')
  t.equal(converted(1, 'furlong', 'm'), 'the unit "furlong" is not known')
  t.equal(converted(1, 'ppm', '%'), 'the unit "ppm" cannot be converted to %')
  t.equal(signOf("[in_i'Hg]"), 'inHg')
  t.equal(signOf('[car_m]'), '[car_m]')
})

test('every code, sign and alias has its unit, with unique codes', async t => {
  t.equal(new Set(units.map(({ code }) => code)).size, units.length)
  for (const unit of units) {
    for (const text of [unit.code, unit.sign, ...unit.aliases]) t.equal(unitOf(text), unit, `${text} is ${unit.code}`)
  }
  const bases = new Set(units.filter(({ factor, zero = 0 }) => factor === 1 && zero === 0).map(unit => unit.dimension))
  for (const { dimension } of units) t.ok(bases.has(dimension), `${dimension} has a base`)
})

test('a value comes back from every unit of its dimension', async () => {
  const partners = units.map(from => [from, units.filter(to => to.dimension === from.dimension)] as const)
  const pair = fc.constantFrom(...partners.flatMap(([from, all]) => all.map(to => [from, to] as const)))
  const property = fc.property(pair, fc.double({ min: -1e9, max: 1e9, noNaN: true }), ([from, to], value) => {
    const there = converted(value, from.code, to.code)
    const back = typeof there === 'number' ? converted(there, to.code, from.code) : Number.NaN
    if (typeof back !== 'number') return false
    // 12 digits of the larger of the numbers on the way.
    const absolute = from.dimension === 'temperature' ? 459.67 : 0
    const size = Math.max(Math.abs(value), Math.abs(from.zero ?? 0), absolute)
    return Math.abs(back - value) <= 1.1e-11 * size + Number.MIN_VALUE * 1e20
  })
  fc.assert(property, runs(3000, 20_000))
})
