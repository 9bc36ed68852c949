/** Messages of devices at home. */

import { decodes, noon, noonMs } from './decoded.ts'

const zigbee = (device: string) => `zigbee2mqtt/${device}`

decodes('zigbee2mqtt', { of: zigbee('a'), reading: { device: 'a' } }, [
  ['WSDCGQ01LM', { temperature: 27.34, humidity: 44.72 }, { temperature: 27.34, humidity: 44.72 }],
  [
    'WSDCGQ11LM with all its fields',
    {
      battery: 91,
      humidity: 50.1,
      linkquality: 120,
      pressure: 1013.2,
      temperature: 21.5,
      voltage: 2985,
      last_seen: noon,
    },
    {
      battery_percentage: 91,
      humidity: 50.1,
      linkquality: 120,
      pressure: 1013.2,
      temperature: 21.5,
      voltage: 2985,
      timestamp: noonMs,
    },
  ],
  ['last_seen as an epoch', { temperature: 1, last_seen: noonMs }, { temperature: 1, timestamp: noonMs }],
  ['MCCGQ11LM, closed', { contact: true, battery: 100 }, { door: false, battery_percentage: 100 }],
  ['MCCGQ11LM, open', { contact: false }, { door: true }],
  [
    'RTCGQ11LM',
    { occupancy: true, illuminance_lux: 49, update_available: false },
    { occupancy: true, illuminance: 49, device: 'bedroom-motion' },
    zigbee('bedroom/motion'),
  ],
  ['SJCGQ11LM with a text', { battery: '100.00', water_leak: false }, { battery_percentage: 100, leak: false }],
  [
    'a plug',
    {
      state: 'ON',
      power: 45.2,
      current: 0.2,
      voltage: 231,
      energy: 12.5,
      update: { installed_version: 7, state: 'idle' },
    },
    { relay: true, power: 45.2, current: 0.2, voltage: 231, energy: 12.5 },
  ],
  ['a soil sensor', { soil_moisture: 31, temperature_calibration: 0.5 }, { soil_moisture: 31 }],
  ['VINDSTYRKA', { pm25: 7, voc_index: 102, temperature: 22 }, { pm25: 7, voc_index: 102, temperature: 22 }],
  ['an address as a name', { co2: 612 }, { co2: 612, device: '0x00124b0006227235' }, zigbee('0x00124b0006227235')],
  ['null is no value', { temperature: null, humidity: 40 }, { humidity: 40 }],
  ['a text in place of a value', { temperature: 'warm' }, { temperature: 'warm' }],
  ['a switch without values', { action: 'single' }, 'no values', zigbee('button')],
  ['the state of the bridge', { state: 'online' }, 'a topic without readings', 'zigbee2mqtt/bridge/state'],
  ['a command', { state: 'ON' }, 'a topic without readings', 'zigbee2mqtt/plug/set'],
  ['availability', { state: 'online' }, 'a topic without readings', 'zigbee2mqtt/plug/availability'],
  ['no object', 21, 'zigbee2mqtt: must be a JSON object'],
])

const sensor = 'tele/shed/SENSOR'

decodes('tasmota', { of: sensor, reading: { device: 'shed' } }, [
  [
    'AM2301, without a zone',
    { Time: '2026-01-01T12:00:00', AM2301: { Temperature: 22.6, Humidity: 32.4, DewPoint: 5.3 }, TempUnit: 'C' },
    { temperature: 22.6, humidity: 32.4 },
  ],
  [
    'BME280 with a zone',
    {
      Time: '2026-01-01T13:00:00+01:00',
      BME280: { Temperature: 20, Humidity: 40, Pressure: 990.1, SeaPressure: 1010 },
      PressureUnit: 'hPa',
    },
    { temperature: 20, humidity: 40, pressure: 990.1, timestamp: noonMs },
  ],
  ['°F', { SI7021: { Temperature: 68 }, TempUnit: 'F' }, { temperature: 20 }],
  ['mmHg', { BMP280: { Pressure: 750 }, PressureUnit: 'mmHg' }, { pressure: 999.917905613 }],
  [
    'two DS18B20',
    { 'DS18B20-1': { Id: '01131B', Temperature: 20 }, 'DS18B20-2': { Id: '01132B', Temperature: 30 }, TempUnit: 'C' },
    { temperature_1: 20, temperature_2: 30 },
  ],
  [
    'two sensors of other kinds',
    { SHT3X: { Temperature: 20, Humidity: 50 }, BMP280: { Temperature: 21, Pressure: 1000 } },
    { temperature: 20, humidity: 50, BMP280_Temperature: 21, pressure: 1000 },
  ],
  [
    'ENERGY',
    {
      ENERGY: {
        TotalStartTime: '2025-01-01T00:00:00',
        Total: 12.3,
        Today: 1,
        Power: 100,
        Voltage: 230,
        Current: 0.43,
        Factor: 0.98,
      },
    },
    { energy: 12.3, power: 100, voltage: 230, current: 0.43, power_factor: 0.98 },
  ],
  ['SCD30', { SCD30: { CarbonDioxide: 612, eCO2: 600, Temperature: 20 } }, { co2: 612, eco2: 600, temperature: 20 }],
  ['PMS5003', { PMS5003: { PM1: 3, 'PM2.5': 7, PM10: 9 } }, { pm1: 3, pm25: 7, pm10: 9 }],
  ['SR04', { SR04: { Distance: 120 } }, { distance: 1.2 }],
  ['ANALOG', { ANALOG: { A0: 512 } }, { ANALOG_A0: 512 }],
  [
    'STATE',
    { Uptime: '0T00:10:12', UptimeSec: 612, Vcc: 3.4, Heap: 25, POWER: 'ON', Wifi: { AP: 1, RSSI: 66, Signal: -67 } },
    { uptime: 612, Vcc: 3.4, relay: true, rssi: -67 },
    'tele/shed/STATE',
  ],
  ['two relays', { POWER1: 'ON', POWER2: 'OFF' }, { relay_1: true, relay_2: false }, 'tele/shed/STATE'],
  [
    'a topic with the prefix behind it',
    { BH1750: { Illuminance: 90 } },
    { illuminance: 90, device: 'a-b' },
    'a/b/tele/SENSOR',
  ],
  ['the last will', 'Online', 'a topic without readings', 'tele/shed/LWT'],
])

const plus = 'shellyplusht-b8d61a8b17cc'
const rpc = `${plus}/events/rpc`

decodes('shelly', {}, [
  [
    'Gen 1, a topic a value',
    21.5,
    { temperature: 21.5, device: 'shellyht-1' },
    'shellies/shellyht-1/sensor/temperature',
  ],
  ['Gen 1, the battery', 87, { battery_percentage: 87, device: 'shellyht-1' }, 'shellies/shellyht-1/sensor/battery'],
  ['Gen 1, a flood', true, { leak: true, device: 'f' }, 'shellies/f/sensor/flood'],
  ['Gen 1, a relay', 12.5, { power: 12.5, device: 'p' }, 'shellies/p/relay/0/power'],
  ['Gen 1, a meter', 1500, { energy: 1.5, device: 'em' }, 'shellies/em/emeter/0/total'],
  ['Gen 1, the words of a sensor', 'dark', 'no values', 'shellies/m/sensor/illumination'],
  [
    'Gen 1, by an address',
    { hum: '53', temp: '22.25', id: 'shellyht-AABBCC' },
    { humidity: 53, temperature: 22.25, device: 'shellyht-AABBCC' },
  ],
  [
    'Gen 2, a full status',
    {
      src: plus,
      dst: `${plus}/events`,
      method: 'NotifyFullStatus',
      params: {
        ts: noonMs / 1000,
        'devicepower:0': { id: 0, battery: { V: 5.33, percent: 82 }, external: { present: false } },
        'humidity:0': { id: 0, rh: 42.2 },
        'temperature:0': { id: 0, tC: 19.8, tF: 67.6 },
        sys: { uptime: 3, ram_free: 164244 },
        wifi: { rssi: -51 },
      },
    },
    {
      battery_voltage: 5.33,
      battery_percentage: 82,
      humidity: 42.2,
      temperature: 19.8,
      uptime: 3,
      rssi: -51,
      timestamp: noonMs,
      device: plus,
    },
    rpc,
  ],
  [
    'Gen 2, a clock that is not set',
    { src: plus, params: { ts: null, 'humidity:0': { rh: 40 } } },
    { humidity: 40, device: plus },
    rpc,
  ],
  [
    'Gen 2, the status of a component',
    { id: 0, tC: 20, tF: 68 },
    { temperature: 20, device: plus },
    `${plus}/status/temperature:0`,
  ],
  [
    'Gen 2, a plug',
    {
      id: 0,
      apower: 8.9,
      voltage: 237.5,
      output: true,
      aenergy: { total: 6532, minute_ts: 1 },
      temperature: { tC: 40 },
    },
    { power: 8.9, voltage: 237.5, relay: true, energy: 6.532, device: 'plug' },
    'plug/status/switch:0',
  ],
  [
    'Gen 2, a second channel',
    { id: 1, apower: 5, aenergy: { total: 1000 } },
    { power_1: 5, energy_1: 1, device: 'pm' },
    'pm/status/switch:1',
  ],
  ['Gen 2, probes of an add-on', { tC: 4.5 }, { temperature_100: 4.5, device: 'x' }, 'x/status/temperature:100'],
  ['Gen 3, a meter', { act_power: 150, pf: 0.9 }, { power: 150, power_factor: 0.9, device: 'em' }, 'em/status/em1:0'],
  ['the will', 'true', 'a topic without readings', `${plus}/online`],
])

decodes('esphome', {}, [
  ['a temperature', 21.4, { temperature: 21.4, device: 'porch' }, 'porch/sensor/temperature/state'],
  ['as a text', '21.4', { temperature: 21.4, device: 'porch' }, 'porch/sensor/temperature/state'],
  ["a name of one's own", 3.2, { soil_probe: 3.2, device: 'bed' }, 'bed/sensor/soil_probe/state'],
  ['a prefix of several levels', 1, { rssi: 1, device: 'home-attic' }, 'home/attic/sensor/rssi/state'],
  ['a binary sensor', 'ON', { motion: true, device: 'hall' }, 'hall/binary_sensor/motion/state'],
  ['one that is off', 'OFF', { motion: false, device: 'hall' }, 'hall/binary_sensor/motion/state'],
  ['a switch', 'ON', { pump: true, device: 'pond' }, 'pond/switch/pump/state'],
  ['not a number', 'nan', 'no values', 'porch/sensor/temperature/state'],
  ['a log', 'text', 'a topic without readings', 'porch/debug'],
  ['the will', 'online', 'a topic without readings', 'porch/status'],
])

decodes('homeassistant', {}, [
  ['a temperature', 21.4, { temperature: 21.4, device: 'porch' }, 'homeassistant/sensor/porch_temperature/state'],
  ['as a text', '48', { humidity: 48, device: 'porch' }, 'homeassistant/sensor/porch_humidity/state'],
  ['an alias', 612, { co2: 612, device: 'hall' }, 'homeassistant/sensor/hall_carbon_dioxide/state'],
  [
    'the longest ending',
    14,
    { soil_temperature: 14, device: 'living_room' },
    'ha/sensor/living_room_soil_temperature/state',
  ],
  ['the battery', '87', { battery_percentage: 87, device: 'porch' }, 'homeassistant/sensor/porch_battery/state'],
  ['a door', 'on', { door: true, device: 'front' }, 'homeassistant/binary_sensor/front_door/state'],
  ['a window', 'off', { window: false, device: 'attic' }, 'homeassistant/binary_sensor/attic_window/state'],
  ['a switch', 'on', { relay: true, device: 'lamp' }, 'homeassistant/switch/lamp_switch/state'],
  ['away', 'unavailable', 'no values', 'homeassistant/sensor/porch_temperature/state'],
  ['no metric', '3', 'no values', 'homeassistant/sensor/last_boot/state'],
  ['an attribute', '°C', 'a topic without readings', 'homeassistant/sensor/porch_temperature/unit_of_measurement'],
])
