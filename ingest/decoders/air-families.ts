/** Families of air quality sensors, and of the device API of ThingsBoard. docs/sensors.md names the source of each. */

import { type Family, type FieldRule, type Message, readingsMax, valueAt } from './family.ts'

/** P1 is PM10 and P2 is PM2.5 in the firmware. The names of others begin with their sensor. */
const particles: readonly FieldRule[] = [
  ['*P0', 'pm1'],
  ['*P1', 'pm10'],
  ['*P2', 'pm25'],
  ['*P4', 'pm4'],
]

/** `sensordatavalues` is a list of names with values, which are texts. */
export const airrohr: Family = {
  name: 'airrohr',
  needs: [['/sensordatavalues', 'must have sensordatavalues']],
  split: splitSensorValues,
  device: ['esp8266-{/esp8266id}', 'esp32-{/esp32id}'],
  values: ['/values'],
  hasTexts: true,
  fields: [
    // The PPD42NS counts particles, and its P1 and P2 are not µg/m³.
    ['PPD_*', null],
    ['dur*', null],
    ['ratio*', null],
    ...particles,
    ['*co2_ppm', 'co2'],
    ['*temperature', 'temperature'],
    ['*humidity', 'humidity'],
    ['*pressure_at_sealevel', null],
    ['*pressure', 'pressure', 'Pa'],
    ['*noise_LAeq', 'noise'],
    ['signal', 'rssi'],
    ['GPS_*', null],
    ['*_micro', null],
    ['samples', null],
    ['interval', null],
  ],
}

const valuesMax = 200

function splitSensorValues(message: Message): readonly Message[] {
  const list = valueAt(message.body, '/sensordatavalues')
  const pairs = (Array.isArray(list) ? list : []).slice(0, valuesMax).flatMap(pair => {
    const name = valueAt(pair, '/value_type')
    return typeof name === 'string' ? [[name, valueAt(pair, '/value')] as const] : []
  })
  const isCounted = pairs.some(([name]) => name === 'durP1')
  const values = pairs.map(([name, value]) => [isCounted && /^P[12]$/.test(name) ? `PPD_${name}` : name, value])
  return [{ ...message, body: { ...(message.body as object), values: Object.fromEntries(values) } }]
}

export const airgradient: Family = {
  name: 'airgradient',
  topics: ['airgradient/readings/{device}'],
  device: ['{/serialno}', '{/serial}', '{?serialno}', '{device}'],
  fields: [
    ['rco2', 'co2'],
    ['pm01', 'pm1'],
    // The firmware corrects these two for humidity and for its own heat.
    ['pm02Compensated', 'pm25_compensated'],
    ['pm02', 'pm25'],
    ['pm10', 'pm10'],
    ['atmp', 'temperature'],
    ['atmpCompensated', 'temperature_compensated'],
    ['rhum', 'humidity'],
    ['rhumCompensated', 'humidity_compensated'],
    ['tvocIndex', 'voc_index'],
    ['noxIndex', 'nox_index'],
    ['wifi', 'rssi'],
    ['boot*', null],
    ['channels/*/*', null],
    ['satellites/*', null],
  ],
}

/** The JSON of a sensor at `/json`, as it posts it or a program passes it on. */
export const purpleair: Family = {
  name: 'purpleair',
  topics: ['**/purpleair/**'],
  device: ['{/SensorId}', '{/Geo}'],
  time: ['/DateTime', '/response_date'],
  dropsOthers: true,
  fields: [
    ['current_temp_f', 'temperature', '°F'],
    ['current_humidity', 'humidity'],
    ['pressure', 'pressure'],
    ['pm1_0_atm', 'pm1'],
    ['pm2_5_atm', 'pm25'],
    ['pm10_0_atm', 'pm10'],
    ['pm1_0_atm_b', 'pm1_b'],
    ['pm2_5_atm_b', 'pm25_b'],
    ['pm10_0_atm_b', 'pm10_b'],
    ['gas_680', 'gas_680'],
    ['rssi', 'rssi'],
    ['uptime', 'uptime'],
  ],
}

/** Values alone, `{ts, values}`, a list of either, or by the names of devices as gateways send them. */
export const thingsboard: Family = {
  name: 'thingsboard',
  topics: ['v1/devices/{device}/telemetry', 'v1/gateway/telemetry', '**/telemetry'],
  split: message => splitTelemetry(message, message.body),
  device: ['{/device}'],
  time: ['/ts'],
  values: ['/values'],
}

/** No more of them than one too many, which refuses the message. */
const partsMax = readingsMax + 1

function splitTelemetry(message: Message, body: unknown, device?: string): readonly Message[] {
  if (Array.isArray(body)) {
    const parts = body.slice(0, partsMax).filter(part => !Array.isArray(part))
    return parts.flatMap(part => splitTelemetry(message, part, device))
  }
  if (typeof body !== 'object' || body === null) return []
  const entries = Object.entries(body)
  if (device === undefined && entries.length > 0 && entries.every(([, part]) => Array.isArray(part))) {
    return entries.slice(0, partsMax).flatMap(([name, parts]) => splitTelemetry(message, parts, name))
  }
  const { values = body, ts, device: own } = body as Record<string, unknown>
  return [{ ...message, body: { device: device ?? own, ts, values } }]
}
