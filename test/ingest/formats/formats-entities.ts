/** Lines as Home Assistant's InfluxDB integration writes them: device, metric and unit of each value. */

import fc from 'fast-check'
import t, { type Test } from 'tap'
import { SightingsReader } from '../../../ingest/formats/field-sightings.ts'
import { type LineProtocolOptions, readLineProtocol } from '../../../ingest/formats/line-protocol.ts'
import type { EntityMetric } from '../../../ingest/formats/line-protocol-entities.ts'
import { defaultLineNames } from '../../../ingest/formats/line-protocol-names.ts'
import { customOf } from '../../../ingest/formats/rows.ts'
import { defaultRanges } from '../../../ingest/reading.ts'
import { createEntityMetrics } from '../../../service/entity-metrics.ts'
import { readEntityName } from '../../../store/metrics/entity-name.ts'
import type { Metric } from '../../../store/metrics/metric.ts'
import { metrics } from '../../../store/tables.ts'
import { runs } from '../../support/runs.ts'

const nowMs = Date.UTC(2026, 5, 1)
const timeMs = nowMs - 3_600_000
const ns = `${timeMs}123456`

const registered: EntityMetric[] = [
  { name: 'temperature', unit: 'Cel', kind: 'gauge' },
  { name: 'sap_flow', unit: null, kind: 'gauge' },
  { name: 'flow_of_sap', unit: 'L/h', kind: 'rate' },
  // An administrator has changed these metrics.
  { name: 'wind_speed', unit: 'km/h', kind: 'gauge' },
]
const defaults: LineProtocolOptions = {
  names: defaultLineNames,
  entityMetrics: registered,
  precision: 'ns',
  ranges: defaultRanges,
  nowMs,
  aheadMsMax: 300_000,
  deviceDefault: undefined,
  rejectsMax: 100,
}
const names = 'co2|energy|door|motion|illuminance|pm25|sap_flow|flow_of_sap|wind_speed|power|uv_index|voltage'
const custom = names.split('|')
const ignoring = { names: { ...defaultLineNames, unknownFields: 'ignore' as const } }

function read(body: string, options: Partial<LineProtocolOptions> = {}) {
  const fieldOf = (name: string) =>
    custom.includes(name) ? { series: custom.indexOf(name), min: -1e6, max: 1e6 } : undefined
  const known = { deviceOf: () => ({ metrics: null, fieldOf }) }
  const result = readLineProtocol(Buffer.from(body), { ...defaults, ...known, ...options })
  const { rows, names } = result
  const readings = Array.from({ length: rows.count }, (_, row) => {
    const columns = metrics.map((name, at) => [name, rows.values[row * metrics.length + at]] as const)
    const { series = [], values = [] } = (rows.custom && customOf(rows.custom, row)) ?? {}
    const others = series.map((one, at) => [custom[one], values[at]] as const)
    return {
      device: names.textOf(rows.names[row] ?? -1),
      timeUs: Math.round((rows.timesMs[row] ?? 0) * 1000),
      values: Object.fromEntries([...columns, ...others].filter(([, value]) => !Number.isNaN(value))),
    }
  })
  return { ...result, readings }
}

/** `sensor.porch_temperature` with its unit, as it is written with the default configuration. */
function lineOf(entity: string, unit: string, fields: string, time = ns): string {
  const [domain, object] = entity.split('.')
  return `${unit.replace(/[ ,]/g, '\\$&')},domain=${domain},entity_id=${object} ${fields} ${time}`
}

const valuesIn = ({ readings }: ReturnType<typeof read>) => readings.map(({ device, values }) => [device, values])

function gives(t: Test, line: string, device: string, values: object): void {
  const result = read(line)
  t.strictSame([result.rejects, valuesIn(result)], [[], [[device, values]]], line)
}

/** Entities with their units and values, their devices, and the stored values. */
function allGive(t: Test, cases: [entity: string, unit: string, value: string, device: string, values: object][]) {
  for (const [entity, unit, value, device, values] of cases) {
    gives(t, lineOf(entity, unit, `value=${value}`), device, values)
  }
}

function refuses(t: Test, line: string, reason: RegExp, options: Partial<LineProtocolOptions> = {}): void {
  const { readings, rejects, rejected } = read(line, options)
  t.strictSame([readings.length, rejected], [0, 1], line)
  t.match(rejects[0]?.reason, reason, line)
}

const nothing = (t: Test, line: string, options: Partial<LineProtocolOptions> = {}) => {
  const { readings, rejected, points } = read(line, options)
  t.strictSame([readings, rejected, points], [[], 0, 1], line)
}

t.test('the end of an entity is its metric, the rest its device', async t => {
  const attributes =
    'device_class_str="temperature",friendly_name_str="Porch, Temperature",icon_str="mdi:a\\"b",state_class_str="measurement",value=21.4'
  gives(t, lineOf('sensor.porch_temperature', '°C', attributes), 'porch', { temperature: 21.4 })
  allGive(t, [
    ['sensor.porch_temperature', '°C', '21i', 'porch', { temperature: 21 }],
    ['sensor.living_room_carbon_dioxide', 'ppm', '640', 'living_room', { co2: 640 }],
    ['sensor.porch_battery_level', '%', '88', 'porch', { battery_percentage: 88 }],
    ['sensor.porch_battery_voltage', 'mV', '3005', 'porch', { battery_voltage: 3.005 }],
    ['sensor.plug_voltage', 'V', '230', 'plug', { voltage: 230 }],
    ['sensor.tree_7_sap_flow', 'L/h', '3', 'tree_7', { sap_flow: 3 }],
    ['sensor.tree_flow_of_sap', 'L/min', '0.05', 'tree', { flow_of_sap: 3 }],
    ['sensor.a_b__humidity', '%', '3', 'a_b_', { humidity: 3 }],
  ])
})

t.test('a voltage belongs to the battery if the body has another battery entity of the device', async t => {
  const of = (device: string, volts: string) => lineOf(`sensor.${device}_voltage`, 'V', `value=${volts}`)
  const body = [
    of('door', '3'),
    of('plug', '230'),
    of('ups', '230'),
    lineOf('sensor.ups_battery', '%', 'value=90'),
    lineOf('binary_sensor.door_battery_low', 'units', 'value=0'),
  ]
  t.strictSame(valuesIn(read(body.join('\n'), ignoring)), [
    ['door', { battery_voltage: 3 }],
    ['plug', { voltage: 230 }],
    ['ups', { battery_percentage: 90, voltage: 230 }],
  ])
})

/** Points of Home Assistant's events as influxdb 5.3.2 and influxdb-client 1.50 for Python write them. */
const written = {
  'InfluxDB 1.x': `°C,domain=sensor,entity_id=porch_temperature device_class_str="temperature",friendly_name_str="Porch \\"A\\", Temp=1\\\\x",state_class_str="measurement",value=21.4 ${ns}
binary_sensor.front_door,domain=binary_sensor,entity_id=front_door device_class_str="door",friendly_name_str="Front\\ndoor",state="on",value=1.0 ${ns}
µg/m³,domain=sensor,entity_id=aq_pm2_5,friendly_name=A\\ b\\,c value=7.0 ${ns}
UV\\ index,domain=sensor,entity_id=roof_uv_index value=7.0 ${ns}
%,domain=sensor,entity_id=porch_humidity value=48.0 ${ns}
weather.home,domain=weather,entity_id=home forecast_str="[{'a': 1}]",state="sunny",temperature=21.0 ${ns}`,
  'InfluxDB 2.x': `°C,domain=sensor,entity_id=porch_temperature device_class_str="temperature",friendly_name_str="Porch \\"A\\", Temp=1\\\\x",state_class_str="measurement",value=21.4 ${ns}
binary_sensor.front_door,domain=binary_sensor,entity_id=front_door device_class_str="door",friendly_name_str="Front
door",state="on",value=1 ${ns}
µg/m³,domain=sensor,entity_id=aq_pm2_5,friendly_name=A\\ b\\,c value=7 ${ns}
UV\\ index,domain=sensor,entity_id=roof_uv_index value=7 ${ns}
%,domain=sensor,entity_id=porch_humidity value=48 ${ns}
weather.home,domain=weather,entity_id=home forecast_str="[{'a': 1}]",state="sunny",temperature=21 ${ns}`,
}

for (const [client, body] of Object.entries(written)) {
  t.test(`lines of the client for ${client}`, async t => {
    const result = read(body)
    t.strictSame([result.points, result.rejected], [6, 0])
    t.strictSame(valuesIn(result), [
      ['porch', { temperature: 21.4, humidity: 48 }],
      ['front', { door: 1 }],
      ['aq', { pm25: 7 }],
      ['roof', { uv_index: 7 }],
    ])
  })
}

t.test('the longest of several endings wins', async t => {
  t.strictSame(readEntityName('porch_soil_temperature'), { device: 'porch', metric: 'soil_temperature' })
  t.strictSame(readEntityName('soil_temperature'), { device: undefined, metric: 'soil_temperature' })
  t.strictSame(readEntityName('x_sap_flow'), { device: 'x_sap', metric: 'flow_rate' })
  const wrong = ['', '_', '__', '_temperature', 'temperature_', 'porch', 'porch_constructor']
  for (const name of [...wrong, `${'x'.repeat(244)}_temperature`]) t.equal(readEntityName(name), undefined, name)
  t.match(readEntityName(`${'x'.repeat(243)}_temperature`), { metric: 'temperature' })
})

t.test('the measurement is the unit, from which the value is converted', async t => {
  const porch = 'sensor.porch_temperature'
  allGive(t, [
    [porch, '°F', '70.7', 'porch', { temperature: 21.5 }],
    ['sensor.house_energy', 'Wh', '1500', 'house', { energy: 1.5 }],
    ['sensor.roof_wind_speed', 'm/s', '10', 'roof', { wind_speed: 36 }],
    ['sensor.porch_illuminance', 'lx', '120', 'porch', { illuminance: 120 }],
  ])
  const other = /sensor\.porch_temperature: the unit "hPa" cannot be converted to °C/
  refuses(t, lineOf(porch, 'hPa', 'value=1'), other)
  refuses(t, lineOf(porch, 'IU', 'value=1'), /the unit "IU" is not known/)
  refuses(t, lineOf(porch, 'x'.repeat(5000), 'value=1'), /^.{1,200}$/)
  refuses(t, lineOf(porch, '°F', 'value=999'), /temperature must be between -90 and 85/)
  refuses(t, lineOf('sensor.house_energy', 'MWh', 'value=1e306'), /too large/)
})

t.test('an entity without a unit has the unit of its metric under any measurement', async t => {
  for (const measurement of ['sensor.porch_temperature', 'units', 'state', 'sensor', 'sensor__temperature'])
    gives(t, lineOf('sensor.porch_temperature', measurement, 'value=21.4'), 'porch', { temperature: 21.4 })
  const apart = lineOf('sensor.porch_temperature', 'sensor__temperature', 'unit_of_measurement_str="°F",value=70')
  refuses(t, apart, /measurement_attr must be unit_of_measurement/)
  const unitless = lineOf('sensor.x_sap_flow', 'sensor__flow', 'unit_of_measurement_str="g/h",value=70')
  gives(t, unitless, 'x', { sap_flow: 70 })
})

t.test('states in words become numbers of state metrics while other text is rejected', async t => {
  const open = 'device_class_str="door",friendly_name_str="Front door",state="on",value=1'
  gives(t, lineOf('binary_sensor.front_door', 'binary_sensor.front_door', open), 'front', { door: 1 })
  gives(t, lineOf('binary_sensor.hall_motion', 'units', 'value=0,state="off"'), 'hall', { motion: 0 })
  const light = lineOf('light.kitchen_light', 'light.kitchen_light', 'brightness=200,state="on",value=1')
  refuses(t, light, /entity light\.kitchen_light is not a metric/)
  nothing(t, light, ignoring)
  nothing(t, lineOf('weather.home', 'units', 'temperature=21.4,humidity=40,state="sunny"'))
  nothing(t, lineOf('sensor.porch_temperature', '°C', 'state="warm"'))
})

function metricsWith(units: Record<string, string>) {
  const registry = { all: () => registered as Metric[], version: () => 1 }
  return createEntityMetrics(registry, new Map(Object.entries(units)))()
}

t.test('an entity without a unit has the unit of the setting', async t => {
  const entityMetrics = metricsWith({ temperature: 'degF', wind_speed: 'mph', illuminance: 'klx' })
  const valuesOf = (line: string) => read(line, { entityMetrics }).readings.map(({ values }) => values)
  const asName = (entity: string) => lineOf(entity, entity, 'value=50')
  t.strictSame(valuesOf(asName('sensor.porch_temperature')), [{ temperature: 10 }])
  t.strictSame(valuesOf(lineOf('sensor.porch_temperature', 'units', 'value=50')), [{ temperature: 10 }])
  t.strictSame(valuesOf(asName('sensor.porch_wind_speed')), [{ wind_speed: 80.4672 }], 'in the unit of the registry')
  t.strictSame(valuesOf(lineOf('sensor.porch_temperature', '°C', 'value=50')), [{ temperature: 50 }])
  t.strictSame(valuesOf(asName('sensor.porch_humidity')), [{ humidity: 50 }])
  t.strictSame(valuesOf(asName('sensor.porch_illuminance')), [{ illuminance: 50_000 }], 'not registered yet')
})

t.test('a unit that neither the entity nor the setting states is named, once for a device and metric', async t => {
  const assumedOf = (lines: string[], options = {}) =>
    read(lines.join('\n'), options).assumed.rejects.map(({ line, device, reason }) => [line, device, reason])
  const bare = (entity: string, value = 1) => lineOf(entity, entity, `value=${value}`)
  const reason = (metric: string, unit: string) =>
    `${metric} has no unit: ${unit} is assumed, and LINE_PROTOCOL_UNITS=${metric}=UNIT states another one`
  const lines = [
    lineOf('sensor.porch_temperature', '°C', 'value=20'),
    bare('sensor.attic_temperature'),
    bare('sensor.attic_temperature', 2),
    lineOf('sensor.porch_wind_speed', 'units', 'value=3'),
    bare('binary_sensor.front_door'),
    lineOf('sensor.attic_illuminance', 'units', 'state="dark"'),
    bare('sensor.porch_sap_flow'),
  ]
  t.strictSame(assumedOf(lines), [
    [2, 'attic', reason('temperature', '°C')],
    [4, 'porch', reason('wind_speed', 'km/h')],
  ])
  const entityMetrics = metricsWith({ temperature: 'degF' })
  t.strictSame(assumedOf(lines, { entityMetrics }), [[4, 'porch', reason('wind_speed', 'km/h')]])
  const many = Array.from({ length: 150 }, (_, at) => bare(`sensor.d${at}_temperature`))
  const { assumed } = read(many.join('\n'))
  t.strictSame([assumed.rejected, assumed.rejects.length], [150, 100])
})

t.test('an entity that ends with no metric is refused, or left out where unknown fields are', async t => {
  const line = lineOf('sensor.washing_machine', 'units', 'value=3')
  refuses(t, line, /entity sensor\.washing_machine is not a metric/)
  nothing(t, line, ignoring)
  t.equal(read(line, ignoring).names.count, 0, 'nor is it a device')
  // A metric of the catalogue that the registry does not make.
  refuses(t, lineOf('sensor.porch_radon', 'Bq/m³', 'value=3'), /field radon is not known/)
})

t.test('the device comes from the tag, else from the entity, else from the credential', async t => {
  const tagged = `°C,device=greenhouse,domain=sensor,entity_id=porch_temperature value=1 ${ns}`
  gives(t, tagged, 'greenhouse', { temperature: 1 })
  const bare = lineOf('sensor.temperature', '°C', 'value=1')
  refuses(t, bare, /entity sensor\.temperature names no device/)
  t.match(read(bare, { deviceDefault: 'porch' }).readings, [{ device: 'porch', values: { temperature: 1 } }])
  const other = read(lineOf('sensor.attic_temperature', '°C', 'value=1'), { deviceDefault: 'porch' })
  t.match(other.readings, [{ device: 'attic' }], 'which the credential of another device may not write')
  const host = `°C,domain=sensor,entity_id=porch_temperature,host=pi value=1 ${ns}`
  gives(t, host, 'porch', { temperature: 1 })
})

t.test('lines without the preset or its tags are ordinary lines', async t => {
  const line = lineOf('sensor.porch_temperature', '°C', 'value=21.4')
  refuses(t, line, /tag device or host is required/, { entityMetrics: undefined })
  gives(t, `w,device=porch,domain=sensor temperature=1 ${ns}`, 'porch', { temperature: 1 })
  const tags = { names: { ...defaultLineNames, deviceTags: ['device', 'entity_id'] } }
  t.match(read(`w,entity_id=porch temperature=1 ${ns}`, tags).readings, [{ device: 'porch', timeUs: timeMs * 1000 }])
})

t.test('values that a device reports together are one complete reading', async t => {
  const us = timeMs * 1000
  const at = (microseconds: number) => `${us + microseconds}000`
  const of = (entity: string, value: number, microseconds: number) =>
    lineOf(`sensor.${entity}`, 'units', `value=${value}`, at(microseconds))
  const body = [
    of('porch_temperature', 1, 100),
    of('attic_temperature', 7, 150),
    of('porch_humidity', 2, 999_000),
    of('porch_co2', 3, 1_000_099),
    of('porch_temperature', 4, 1_000_099),
    of('porch_temperature', 5, 1_000_100),
    of('porch_humidity', 6, 1_000_100),
    // Earlier than the others, in the body of one who sends backwards.
    of('porch_pressure', 1000, 50),
  ].join('\n')
  const { readings } = read(body)
  const found = readings.map(({ device, timeUs, values }) => [device, timeUs - us, values])
  t.strictSame(found, [
    ['porch', 100, { temperature: 1, humidity: 2, co2: 3 }],
    ['attic', 150, { temperature: 7 }],
    ['porch', 1_000_099, { temperature: 4 }],
    ['porch', 1_000_100, { temperature: 5, humidity: 6 }],
    ['porch', 50, { pressure: 1000 }],
  ])
})

t.test('times have microseconds, so that values of another body have other times', async t => {
  const micro = read(lineOf('sensor.porch_co2', 'ppm', 'value=3', `${timeMs}123`), { precision: 'us' })
  t.equal(micro.readings[0]?.timeUs, timeMs * 1000 + 123)
  for (const precision of ['ms', 's'] as const)
    refuses(t, lineOf('sensor.porch_co2', 'ppm', 'value=3', '1'), /nanoseconds or microseconds/, { precision })
})

t.test('the name of the metric is recorded before the metrics of the device are known', async t => {
  const lines = [lineOf('sensor.porch_co2', 'ppm', 'value=3'), lineOf('sensor.porch_humidity', '%', 'value=3')]
  const sightings = new SightingsReader({ pairsMax: 1000, fieldsMax: 1000 })
  readLineProtocol(Buffer.from(lines.join('\n')), { ...defaults, sightings })
  t.strictSame(sightings.result().fields, ['co2'])
})

t.test('whatever entities and units are called, each line is a reading, a reject, or nothing', async () => {
  const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 300 })
  const escaped = (text: string) => text.replace(/[\n\r]/g, ' ').replace(/[ ,=\\]/g, '\\$&')
  const ending = fc.constantFrom('', '_temperature', '_co2', '_door', '_sap_flow', '_energy')
  const special = fc.constantFrom(...'nan|inf|t|"21.4"|1e999|-0|1i|x'.split('|'), '9'.repeat(399), '9'.repeat(500))
  const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }).map(String), special)
  const property = fc.property(word, ending, word, word, value, (name, end, unit, domain, value) => {
    const line = `${escaped(unit)},domain=${escaped(domain)},entity_id=${escaped(name + end)} value=${value} ${ns}`
    const { readings, rejected, rejects } = read(line)
    for (const { values } of readings) for (const one of Object.values(values)) if (!Number.isFinite(one)) return false
    return readings.length + rejected <= 1 && rejects.every(({ reason }) => reason.length < 300)
  })
  fc.assert(property, runs(100, 500))
})
