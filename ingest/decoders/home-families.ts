/** Families of devices at home. docs/sensors.md names the source of each. */

import { readEntityName } from '../../store/metrics/entity-name.ts'
import type { Family, Message } from './family.ts'

export const zigbee2mqtt: Family = {
  name: 'zigbee2mqtt',
  topics: ['+/{device+}'],
  noReadings: ['+/bridge', '+/bridge/**', '**/set', '**/get', '**/set/**', '**/get/**', '**/availability'],
  device: ['{device}', '{/device/friendlyName}', '{/device/ieeeAddr}'],
  time: ['/last_seen'],
  fields: [
    // A contact that is closed is true here, and a door that is open is 1.
    ['contact', 'door', 'not'],
    ['state', 'relay'],
    ['battery', 'battery_percentage'],
    ['illuminance_lux', 'illuminance'],
    ['pm25', 'pm25'],
    ['voc_index', 'voc_index'],
    ['formaldehyd', 'hcho'],
    ['water_leak', 'leak'],
    ['update/*', null],
    ['update_available', null],
    ['device/*', null],
    ['*_calibration', null],
    ['color/*', null],
  ],
}

export const tasmota: Family = {
  name: 'tasmota',
  topics: ['tele/{device+}/SENSOR', 'tele/{device+}/STATE', '{device+}/tele/SENSOR', '{device+}/tele/STATE'],
  device: ['{device}'],
  time: ['/Time'],
  fields: [
    ['ENERGY/Power', 'power'],
    ['ENERGY/ApparentPower', 'apparent_power'],
    ['ENERGY/Factor', 'power_factor'],
    ['ENERGY/Voltage', 'voltage'],
    ['ENERGY/Current', 'current'],
    ['ENERGY/Frequency', 'frequency'],
    ['ENERGY/Total', 'energy'],
    ['ENERGY/ExportActive', 'energy_returned'],
    ['ENERGY/*', null],
    ['*-#/Temperature', 'temperature_#', '/TempUnit>°C'],
    ['*/Temperature', 'temperature', '/TempUnit'],
    ['*/Humidity', 'humidity'],
    ['*/Pressure', 'pressure', '/PressureUnit'],
    ['*/CarbonDioxide', 'co2'],
    ['*/eCO2', 'eco2'],
    ['*/TVOC', 'tvoc'],
    ['*/PM1', 'pm1'],
    ['*/PM2.5', 'pm25'],
    ['*/PM10', 'pm10'],
    ['*/Illuminance', 'illuminance'],
    ['*/Distance', 'distance', 'cm'],
    ['*/DewPoint', null],
    ['*/SeaPressure', null],
    ['*/Id', null],
    ['POWER', 'relay'],
    ['POWER#', 'relay_#'],
    ['UptimeSec', 'uptime'],
    ['Wifi/Signal', 'rssi'],
    ['Wifi/*', null],
    ['Heap', null],
    ['Sleep', null],
    ['LoadAvg', null],
    ['MqttCount', null],
    ['Berry/*', null],
  ],
}

/** Generation 1 sends one value a topic or an address with a query string, generation 2 and later a status of components. */
export const shelly: Family = {
  name: 'shelly',
  topics: [
    'shellies/{device}/sensor/{metric}',
    'shellies/{device}/relay/0/{metric}',
    'shellies/{device}/emeter/0/{metric}',
    '{device+}/status/{metric}',
    '{device+}/events/rpc',
  ],
  device: ['{device}', '{/src}', '{/id}', '{?id}'],
  time: ['/params/ts', '/ts'],
  values: ['', '/params', '/result'],
  dropsOthers: true,
  fields: [
    ['temperature', 'temperature'],
    ['temp', 'temperature'],
    ['humidity', 'humidity'],
    ['hum', 'humidity'],
    ['battery', 'battery_percentage'],
    ['lux', 'illuminance'],
    ['motion', 'motion'],
    ['flood', 'leak'],
    ['smoke', 'smoke'],
    ['power', 'power'],
    ['voltage', 'voltage'],
    ['current', 'current'],
    ['pf', 'power_factor'],
    ['total', 'energy', 'Wh'],
    ['temperature:0/tC', 'temperature'],
    ['temperature:#/tC', 'temperature_#'],
    ['humidity:0/rh', 'humidity'],
    ['humidity:#/rh', 'humidity_#'],
    ['illuminance:0/lux', 'illuminance'],
    ['flood:0/alarm', 'leak'],
    ['smoke:0/alarm', 'smoke'],
    ['devicepower:0/battery/V', 'battery_voltage'],
    ['devicepower:0/battery/percent', 'battery_percentage'],
    ...['switch', 'pm1', 'em1', 'cover'].flatMap(component => shellyMeter(component)),
    ['em:0/total_act_power', 'power'],
    ['em:0/total_current', 'current'],
    ['emdata:0/total_act', 'energy', 'Wh'],
    ['em1data:0/total_act_energy', 'energy', 'Wh'],
    ['wifi/rssi', 'rssi'],
    ['sys/uptime', 'uptime'],
  ],
}

/** Channel 0 has the names of the catalogue, the others have their number behind it. */
function shellyMeter(component: string): Family['fields'] & object {
  return [
    [`${component}:0/apower`, 'power'],
    [`${component}:0/act_power`, 'power'],
    [`${component}:0/voltage`, 'voltage'],
    [`${component}:0/current`, 'current'],
    [`${component}:0/pf`, 'power_factor'],
    [`${component}:0/freq`, 'frequency'],
    [`${component}:0/aenergy/total`, 'energy', 'Wh'],
    [`${component}:0/output`, 'relay'],
    [`${component}:#/apower`, 'power_#'],
    [`${component}:#/act_power`, 'power_#'],
    [`${component}:#/aenergy/total`, 'energy_#', 'Wh>kWh'],
    [`${component}:#/output`, 'relay_#'],
  ]
}

/** One value a topic. */
export const esphome: Family = {
  name: 'esphome',
  topics: [
    '{device+}/sensor/{metric}/state',
    '{device+}/binary_sensor/{metric}/state',
    '{device+}/switch/{metric}/state',
  ],
  device: ['{device}'],
  hasTexts: true,
}

/** The entity names device and metric, as in line protocol of Home Assistant. */
export const homeassistant: Family = {
  name: 'homeassistant',
  topics: ['**/sensor/{entity}/state', '**/binary_sensor/{entity}/state', '**/switch/{entity}/state'],
  split: splitEntity,
  device: ['{/device}'],
  hasTexts: true,
}

function splitEntity(message: Message): readonly Message[] {
  const { topic = '', body } = message
  const entity = readEntityName(topic.split('/').at(-2) ?? '')
  if (entity?.device === undefined) return []
  return [{ ...message, body: { device: entity.device, [entity.metric]: body } }]
}
