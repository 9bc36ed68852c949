/** The check of one reading with further values, and of a device that lists its metrics. */

import t, { type Test } from 'tap'
import { type Fields, ignoredNames } from '../../ingest/field-names.ts'
import { createReadingCheck } from '../../ingest/reading.ts'
import { type WholeReading, wholeReading } from '../../ingest/whole-reading.ts'

const check = createReadingCheck({ collectsFurther: true })
const nowMs = Date.UTC(2026, 5, 1)
const good = { device: 'porch', temperature: 21.5, humidity: 48, pressure: 1013.2 }

/** As the registry knows them: a name, or another one of it. */
const metrics: Record<string, { name: string; series: number; min: number; max: number }> = {
  co2: { name: 'co2', series: 1, min: 0, max: 100_000 },
  co2_ppm: { name: 'co2', series: 1, min: 0, max: 100_000 },
  soil_temperature: { name: 'soil_temperature', series: 2, min: -90, max: 85 },
  door: { name: 'door', series: 3, min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY },
  rain: { name: 'rain', series: 4, min: 0, max: Number.POSITIVE_INFINITY },
  frost: { name: 'frost', series: 5, min: Number.NEGATIVE_INFINITY, max: 0 },
  constructor: { name: 'constructor', series: 6, min: -1, max: 1 },
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

/** The further values by series, and the names that are told as ignored. */
function takes(t: Test, fields: Fields, further: object, ignored?: string[], list: string[] | null = null): void {
  const whole = read(fields, list)
  if (!whole.ok) return void t.fail(JSON.stringify(whole.errors))
  const { series = [], values = [] } = whole.reading.further ?? {}
  t.strictSame(Object.fromEntries(series.map((number, at) => [number, values[at]])), further)
  t.strictSame(ignoredNames(fields, whole.further, list), ignored)
}

function refuses(t: Test, fields: Fields, errors: object, list: string[] | null = null): void {
  t.strictSame(read(fields, list), { ok: false, errors })
}

t.test('fields with a metric are further values, and what is lost is named', async t => {
  takes(t, good, {})
  takes(t, { ...good, co2: 412, door: true }, { 1: 412, 3: 1 })
  takes(t, { ...good, co2: 412, co2_ppm: 413, door: false }, { 1: 413, 3: 0 })
  takes(t, { ...good, co2: '412', door: Number.NaN, rain: [1], frost: -1 }, { 5: -1 }, ['co2', 'door', 'rain'])
  takes(t, { ...good, unknown: 1, other: 2, co2: 1 }, { 1: 1 }, ['unknown', 'other'])
  takes(t, { ...good, unknown: null, co2: null }, {})
  takes(t, { ...good, constructor: 0.5, toString: 1 }, { 6: 0.5 }, ['toString'])
  takes(t, { device: 'porch', temperature: null, humidity: null, pressure: null, co2: 412 }, { 1: 412 })
})

t.test('a value outside the range of its metric refuses its reading, with every other error', async t => {
  refuses(t, { ...good, co2: -1 }, { co2: 'must be between 0 and 100000' })
  refuses(t, { ...good, rain: -1 }, { rain: 'must be at least 0' })
  refuses(t, { ...good, frost: 1 }, { frost: 'must be at most 0' })
  refuses(
    t,
    { ...good, temperature: 99, co2_ppm: 1e6 },
    {
      temperature: 'must be between -90 and 85',
      co2_ppm: 'must be between 0 and 100000',
    },
  )
})

t.test('a reading has at least one value, whichever it is', async t => {
  takes(t, { device: 'porch', co2: 412 }, { 1: 412 })
  takes(t, { device: 'porch', temperature: 21.5 }, {})
  takes(t, { device: 'porch', 'battery voltage': 3.7 }, {})
  const nulls = { temperature: null, humidity: null, pressure: null }
  const empty = { temperature: 'at least one metric must be a number' }
  refuses(t, { device: 'porch' }, empty)
  refuses(t, { device: 'porch', ...nulls }, empty)
  const unknown =
    'field unknown is not known: add it by "barograph metrics add", or to the metrics that the device lists'
  const alone = { temperature: `${empty.temperature}; ${unknown}` }
  refuses(t, { device: 'porch', ...nulls, unknown: 1 }, alone)
  refuses(t, { device: 'porch', ...nulls, co2: 'x' }, empty)
})

t.test('of a device that lists its metrics, those alone are taken', async t => {
  const soil = ['soil_temperature']
  takes(t, { device: 'bed', soil_temperature: 12.5 }, { 2: 12.5 }, undefined, soil)
  takes(t, { device: 'bed', soil_temperature: 12.5 }, { 2: 12.5 }, undefined, [...soil, 'co2'])
  refuses(t, { device: 'bed' }, { soil_temperature: 'at least one metric must be a number' }, soil)
  refuses(
    t,
    { device: 'bed', soil_temperature: null },
    { soil_temperature: 'at least one metric must be a number' },
    soil,
  )
  refuses(t, { device: 'bed', soil_temperature: '12' }, { soil_temperature: 'must be a number or null' }, soil)
  refuses(t, { device: 'bed', soil_temperature: 100 }, { soil_temperature: 'must be between -90 and 85' }, soil)
  const others = { temperature: 'hot', humidity: 48, 'battery voltage': 3.7, pressure: null, co2: 400, note: 'dry' }
  const ignored = ['temperature', 'humidity', 'battery voltage', 'co2', 'note']
  takes(t, { device: 'bed', soil_temperature: 12.5, ...others, timestamp: nowMs }, { 2: 12.5 }, ignored, soil)
})

t.test('a list may have columns and others, by any name of them', async t => {
  const list = ['temperature', 'battery_voltage', 'co2']
  takes(t, { device: 'hall', temperature: 20, 'battery voltage': 3.7, co2_ppm: 400 }, { 1: 400 }, undefined, list)
  takes(t, { device: 'hall', temperature: null, battery_voltage: null, co2: 400 }, { 1: 400 }, undefined, list)
  takes(t, { device: 'hall', temperature: 20, battery_voltage: null, co2: null }, {}, undefined, list)
  refuses(t, { device: 'hall' }, { temperature: 'at least one metric must be a number' }, list)
  refuses(
    t,
    { device: 'hall', temperature: 99, battery_voltage: 1, co2_ppm: {} },
    {
      temperature: 'must be between -90 and 85',
      co2_ppm: 'must be a number or null',
    },
    list,
  )
  refuses(t, { device: 'hall' }, { constructor: 'at least one metric must be a number' }, ['constructor'])
  const none = { temperature: null, battery_voltage: null, co2: null }
  refuses(t, { device: 'hall', ...none }, { temperature: 'at least one metric must be a number' }, list)
})
