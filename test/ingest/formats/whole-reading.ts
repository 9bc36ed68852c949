/** The check of one reading with custom values, and of a device that lists its metrics. */

import t, { type Test } from 'tap'
import { type Fields, ignoredNames } from '../../../ingest/field-names.ts'
import { createReadingCheck } from '../../../ingest/reading.ts'
import { type WholeReading, wholeReading } from '../../../ingest/whole-reading.ts'

const check = createReadingCheck({ collectsCustom: true })
const nowMs = Date.UTC(2026, 5, 1)
const good = { device: 'porch', temperature: 21.5, humidity: 48, pressure: 1013.2 }
const { device: _, ...values } = good

/** The registry's metrics by name and by alias. */
const metrics: Record<string, { name: string; series: number; min: number; max: number }> = {
  co2: { name: 'co2', series: 1, min: 0, max: 100_000 },
  co2_ppm: { name: 'co2', series: 1, min: 0, max: 100_000 },
  soil_temperature: { name: 'soil_temperature', series: 2, min: -90, max: 85 },
  door: { name: 'door', series: 3, min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY },
  rain: { name: 'rain', series: 4, min: 0, max: Number.POSITIVE_INFINITY },
  frost: { name: 'frost', series: 5, min: Number.NEGATIVE_INFINITY, max: 0 },
  constructor: { name: 'constructor', series: 6, min: -1, max: 1 },
  voltage: { name: 'voltage', series: 7, min: -1e6, max: 1e6 },
}
const metricOf = (field: string) => (Object.hasOwn(metrics, field) ? metrics[field] : undefined)

function read(fields: Fields, list: string[] | null = null): WholeReading {
  const fieldOf = (field: string) => {
    const metric = metricOf(field)
    return metric === undefined || (list !== null && !list.includes(metric.name)) ? undefined : metric
  }
  const nameOf = (field: string) => metricOf(field)?.name ?? field
  return wholeReading(check(fields, nowMs, list), fields, { metrics: list, fieldOf, nameOf })
}

/** The custom values by series, and the names that are reported as ignored. */
function takes(t: Test, fields: Fields, custom: object, ignored?: string[], list: string[] | null = null): void {
  const whole = read(fields, list)
  if (!whole.ok) return void t.fail(JSON.stringify(whole.errors))
  const { series = [], values = [] } = whole.reading.custom ?? {}
  t.strictSame(Object.fromEntries(series.map((number, at) => [number, values[at]])), custom)
  t.strictSame(ignoredNames(fields, whole, list), ignored)
}

function refuses(t: Test, fields: Fields, errors: object, list: string[] | null = null): void {
  t.strictSame(read(fields, list), { ok: false, errors })
}

t.test('fields with a metric are custom values while other fields are named', async t => {
  takes(t, good, {})
  takes(t, { ...good, co2: 412, door: true }, { 1: 412, 3: 1 })
  takes(t, { ...good, co2: 412, co2_ppm: 413, door: false }, { 1: 413, 3: 0 })
  takes(t, { ...good, co2: '412', door: Number.NaN, rain: [1], frost: -1 }, { 5: -1 }, ['co2', 'door', 'rain'])
  takes(t, { ...good, unknown: 1, other: 2, co2: 1 }, { 1: 1 }, ['unknown', 'other'])
  takes(t, { ...good, unknown: null, co2: null }, {})
  takes(t, { ...good, constructor: 0.5, toString: 1 }, { 6: 0.5 }, ['toString'])
  takes(t, { device: 'porch', temperature: null, humidity: null, pressure: null, co2: 412 }, { 1: 412 })
})

/** Fields that a stored reading lacks, with reasons. Columns have values other than NaN. */
function leavesOut(t: Test, fields: Fields, outOfRange: object, values: object, list: string[] | null = null): void {
  const whole = read(fields, list)
  if (!whole.ok) return void t.fail(JSON.stringify(whole.errors))
  t.strictSame(whole.outOfRange, outOfRange)
  t.match(whole.reading, values)
  t.same(new Set(ignoredNames(fields, whole, list)), new Set(Object.keys(outOfRange)))
}

t.test('a value outside the range of its metric is left out with its reason', async t => {
  const none = Number.NaN
  const temperature = 'must be between -90 and 85'
  leavesOut(t, { ...good, temperature: -127 }, { temperature }, { ...values, temperature: none })
  leavesOut(t, { ...good, co2: -1 }, { co2: 'must be between 0 and 100000' }, values)
  leavesOut(t, { ...good, rain: -1 }, { rain: 'must be at least 0' }, values)
  leavesOut(t, { ...good, frost: 1, door: true }, { frost: 'must be at most 0' }, { custom: { series: [3] } })
  leavesOut(t, { device: 'bed', temperature: 900, co2: 400 }, { temperature }, { custom: { series: [1] } })
})

t.test('a reading without remaining values is rejected with every reason', async t => {
  const errors = { temperature: 'must be between -90 and 85', co2_ppm: 'must be between 0 and 100000' }
  refuses(t, { device: 'porch', temperature: 99, co2_ppm: 1e6 }, errors)
  const { temperature } = errors
  refuses(t, { device: 'porch', temperature: 99 }, { temperature })
  refuses(t, { ...good, pressure: 'x', temperature: 99 }, { pressure: 'must be a number or null', temperature })
})

t.test('aliases of columns come from the catalogue in any case', async t => {
  const column = (fields: Fields, expected: object) => {
    const whole = read({ device: 'porch', ...fields })
    if (!whole.ok) return void t.fail(JSON.stringify([fields, whole.errors]))
    t.match(whole.reading, expected, JSON.stringify(fields))
    t.equal(ignoredNames({ device: 'porch', ...fields }, whole, null), undefined)
  }
  for (const name of 'battery|battery_level|batteryLevel|batt|battery_percent|soc|Battery Percentage'.split('|')) {
    column({ [name]: 88 }, { battery_percentage: 88 })
  }
  for (const name of ['temp', 'tempc', 'tempC', 'Temperature', 'TEMP']) column({ [name]: 20 }, { temperature: 20 })
  for (const name of ['hum', 'rh', 'RH', 'Humidity']) column({ [name]: 102 }, { humidity: 100 })
  for (const name of ['vbat', 'battery_v', 'batteryVoltage']) {
    column({ [name]: 3.005 }, { battery_voltage: 3.005 })
    column({ [name]: 3005 }, { battery_voltage: 3.005 })
  }
  column({ temp: 20, temperature: 21 }, { temperature: 21 })
  column({ temperature: 21, temp: 20 }, { temperature: 20 })
  column({ temperature: null, temp: 20 }, { temperature: 20 })
  column({ temp: 20, temperature: null }, { temperature: 20 })
  takes(t, { ...good, battery: true, temp: 'warm', soc: [1] }, {}, ['battery', 'temp', 'soc'])
  takes(t, { ...good, battery: 88, temp: 20 }, {}, ['humidity', 'pressure', 'battery'], ['temperature'])
  refuses(t, { device: 'porch', battery: 900 }, { battery: 'must be between 0 and 110' })
})

t.test('a voltage belongs to the battery if the message has one, in mV from 1000 on', async t => {
  const battery = (fields: Fields, volts: number) => {
    t.match(read({ device: 'porch', ...fields }), { reading: { battery_voltage: volts, custom: undefined } })
  }
  battery({ battery: 80, voltage: 3005 }, 3.005)
  battery({ voltage: 3005, battery_low: false, temperature: 20 }, 3.005)
  battery({ 'battery percentage': 80, voltage: 12.6 }, 12.6)
  const mains = (fields: Fields, volts: number, list: string[] | null = null) => {
    t.match(read({ device: 'porch', ...fields }, list), { reading: { custom: { series: [7], values: [volts] } } })
  }
  mains({ temperature: 20, voltage: 230 }, 230)
  mains({ voltage: 24 }, 24)
  mains({ battery: 80, voltage: 230 }, 230)
  mains({ battery: 80, battery_voltage: 12.6, voltage: 24 }, 24)
  mains({ battery: 80, voltage: 24 }, 24, ['voltage', 'battery_percentage'])
})

t.test('a time by another name is the time of the reading, in whatever unit', async t => {
  const iso = '2026-05-31T23:00:00.500Z'
  const ms = Date.parse(iso)
  const at = (fields: Fields, expected: number | undefined, ignored?: string[]) => {
    const whole = read({ ...good, ...fields })
    if (!whole.ok) return void t.fail(JSON.stringify([fields, whole.errors]))
    t.equal(whole.reading.timestampMs, expected, JSON.stringify(fields))
    t.strictSame(ignoredNames({ ...good, ...fields }, whole, null), ignored, JSON.stringify(fields))
  }
  for (const name of 'ts|time|Time|datetime|dateTime|date_time|epoch|unixtime|unixTime|TIMESTAMP'.split('|')) {
    at({ [name]: ms }, ms)
  }
  for (const time of [iso, ms, ms / 1000, ms * 1000, ms * 1e6, String(ms), '2026-06-01 01:00:00.5+02']) {
    at({ ts: time }, ms)
    at({ timestamp: time }, ms)
  }
  at({ time: null }, undefined)
  at({ time: 12.5 }, undefined, ['time'])
  at({ Time: '2026-05-31T23:00:00' }, undefined, ['Time'])
  at({ time: '12:30', epoch: ms }, ms, ['time'])
  at({ epoch: Math.floor(ms / 1000), time: ms }, ms)
  at({ timestamp: ms - 60_000, time: ms }, ms - 60_000, ['time'])
  const others = ['created_at', 'receivedAt', 'last_seen', 'lastSeen', 'updated_at']
  at(Object.fromEntries(others.map(name => [name, ms])), undefined, others)
  refuses(t, { ...good, ts: ms, time: ms - 60_000 }, { time: 'is another time than ts' })
  refuses(t, { ...good, time: nowMs + 3_600_000 }, { time: 'must not be in the future' })
  const early = 'must not be before 2000-01-01 (a clock that is not set says 1970)'
  refuses(t, { ...good, timestamp: 12.5 }, { timestamp: early })
})

t.test('a reading has at least one value, whichever it is', async t => {
  for (const field of ['temperature', 'battery voltage']) takes(t, { device: 'porch', [field]: 3.7 }, {})
  const nulls = { temperature: null, humidity: null, pressure: null }
  const empty = { temperature: 'at least one metric must be a number' }
  refuses(t, { device: 'porch' }, empty)
  refuses(t, { device: 'porch', ...nulls }, empty)
  const way = 'add it by "barograph metrics add", or to the metrics that the device lists'
  const alone = { temperature: `${empty.temperature}; field unknown is not known: ${way}` }
  refuses(t, { device: 'porch', ...nulls, unknown: 1 }, alone)
  refuses(t, { device: 'porch', ...nulls, co2: 'x' }, empty)
})

t.test('a device that lists its metrics gets only these', async t => {
  const soil = ['soil_temperature']
  takes(t, { device: 'bed', soil_temperature: 12.5 }, { 2: 12.5 }, undefined, [...soil, 'co2'])
  for (const [value, soil_temperature] of [
    [undefined, 'at least one metric must be a number'],
    [null, 'at least one metric must be a number'],
    ['12', 'must be a number or null'],
    [100, 'must be between -90 and 85'],
  ])
    refuses(t, { device: 'bed', soil_temperature: value }, { soil_temperature }, soil)
  const others = { temperature: 'hot', humidity: 48, 'battery voltage': 3.7, pressure: null, co2: 400, note: 'dry' }
  const ignored = ['temperature', 'humidity', 'battery voltage', 'co2', 'note']
  takes(t, { device: 'bed', soil_temperature: 12.5, ...others, timestamp: nowMs }, { 2: 12.5 }, ignored, soil)
})

t.test('a list may have columns and others, by any name of them', async t => {
  const list = ['temperature', 'battery_voltage', 'co2']
  takes(t, { device: 'hall', temperature: 20, 'battery voltage': 3.7, co2_ppm: 400 }, { 1: 400 }, undefined, list)
  takes(t, { device: 'hall', temperature: null, battery_voltage: null, co2: 400 }, { 1: 400 }, undefined, list)
  const errors = { temperature: 'must be between -90 and 85', co2_ppm: 'must be a number or null' }
  refuses(t, { device: 'hall', temperature: 99, battery_voltage: 1, co2_ppm: {} }, errors, list)
  const empty = 'at least one metric must be a number'
  refuses(t, { device: 'hall' }, { constructor: empty }, ['constructor'])
  const none = { temperature: null, battery_voltage: null, co2: null }
  refuses(t, { device: 'hall', ...none }, { temperature: empty }, list)
})
