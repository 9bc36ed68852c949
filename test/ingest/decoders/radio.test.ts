/** Messages of gateways and networks of radio sensors. */

import { decodes, type Example, noon, noonMs } from './decoded.ts'

const bluetooth = (mac: string) => `home/OpenMQTTGateway/BTtoMQTT/${mac}`

decodes('theengs', {}, [
  [
    'LYWSD03MMC',
    {
      id: 'A4:C1:38:5B:12:0E',
      name: 'ATC',
      model: 'LYWSD03MMC',
      rssi: -71,
      tempc: 21.6,
      tempf: 70.88,
      hum: 48,
      batt: 87,
      volt: 2.93,
    },
    {
      rssi: -71,
      temperature: 21.6,
      humidity: 48,
      battery_percentage: 87,
      battery_voltage: 2.93,
      device: 'A4C1385B120E',
    },
    bluetooth('A4C1385B120E'),
  ],
  ['the address of the topic', { tempc: 4, mac_type: 1 }, { temperature: 4, device: 'A4C1' }, bluetooth('A4C1')],
  [
    'HHCCJCY01HHCC',
    { id: 'C4:7C:8D:00:00:01', moi: 31, fer: 120, lux: 300, tempc: 18 },
    { soil_moisture: 31, soil_conductivity: 120, illuminance: 300, temperature: 18, device: 'C47C8D000001' },
    bluetooth('C47C8D000001'),
  ],
  [
    'RuuviTag',
    { id: 'R', tempc: 20, hum: 40, pres: 1001.2, txpower: 4 },
    { temperature: 20, humidity: 40, pressure: 1001.2, device: 'R' },
  ],
  [
    'several probes',
    { id: 'I', tempc1: 60, tempf1: 140, tempc2: 61 },
    { temperature_1: 60, temperature_2: 61, device: 'I' },
  ],
  ['a door', { id: 'D', open: true, batt: 90 }, { door: true, battery_percentage: 90, device: 'D' }],
  ['a scale', { id: 'S', weight: 71.2 }, { weight: 71.2, device: 'S' }],
  ['air', { id: 'Q', co2: 600, pm25: 7, pm10: 9 }, { co2: 600, pm25: 7, pm10: 9, device: 'Q' }],
  ['motion', { id: 'M', motion: false, distance: 1.2 }, { motion: false, device: 'M' }],
  ['with a time', { id: 'T', tempc: 1, time: noon }, { temperature: 1, timestamp: noonMs, device: 'T' }],
  ['a text as a value', { id: 'X', tempc: 'cold' }, { temperature: 'cold', device: 'X' }],
  ['another topic', { id: 'Y', tempc: 1 }, 'a topic without readings', 'home/OpenMQTTGateway/SYStoMQTT'],
])

const event = 'rtl_433/garden/events'

decodes('rtl_433', { of: event }, [
  [
    'Acurite-Tower',
    {
      time: '2026-01-01 12:00:00',
      model: 'Acurite-Tower',
      id: 1234,
      channel: 'A',
      battery_ok: 1,
      temperature_C: 5.2,
      humidity: 81,
      mic: 'CHECKSUM',
    },
    { battery_percentage: 100, temperature: 5.2, humidity: 81, device: 'Acurite-Tower-A-1234' },
  ],
  [
    'without a channel',
    { model: 'LaCrosse-TX141', id: 7, temperature_C: 1 },
    { temperature: 1, device: 'LaCrosse-TX141-7' },
  ],
  ['°F', { model: 'Oregon-THGR122N', id: 1, temperature_F: 68 }, { temperature: 20, device: 'Oregon-THGR122N-1' }],
  ['with a zone', { time: noon, model: 'a', temperature_C: 1 }, { temperature: 1, timestamp: noonMs, device: 'a' }],
  [
    'an epoch',
    { time: '1767268800', model: 'a', temperature_C: 1 },
    { temperature: 1, timestamp: noonMs, device: 'a' },
  ],
  [
    'Fineoffset-WH24',
    {
      model: 'Fineoffset-WH24',
      id: 9,
      wind_dir_deg: 270,
      wind_avg_m_s: 3.5,
      wind_max_m_s: 5,
      rain_mm: 120.3,
      light_lux: 900,
      uvi: 1,
    },
    {
      wind_direction: 270,
      wind_speed: 3.5,
      wind_gust: 5,
      rain_total: 120.3,
      illuminance: 900,
      uvi: 1,
      device: 'Fineoffset-WH24-9',
    },
  ],
  ['km/h', { model: 'b', wind_avg_km_h: 36, wind_max_km_h: 72 }, { wind_speed: 10, wind_gust: 20, device: 'b' }],
  ['inches', { model: 'b', rain_in: 1, rain_rate_in_h: 0.5 }, { rain_total: 25.4, rain_intensity: 12.7, device: 'b' }],
  ['kPa', { model: 'tyre', id: 'ff', pressure_kPa: 100 }, { pressure: 1000, device: 'tyre-ff' }],
  [
    'mV',
    { model: 'soil', id: 2, moisture: 40, battery_mV: 1500 },
    { soil_moisture: 40, battery_voltage: 1.5, device: 'soil-2' },
  ],
  [
    'the radio',
    { model: 'c', id: 1, temperature_C: 3, freq: 433.9, noise: -20, rssi: -1.5 },
    { temperature: 3, rssi: -1.5, device: 'c-1' },
  ],
  [
    'of OpenMQTTGateway',
    { model: 'd', id: 1, humidity: 50 },
    { humidity: 50, device: 'd-1' },
    'home/OMG/RTL_433toMQTT/d/1',
  ],
  ['no sensor', { enabled: true }, 'no /model'],
])

const stack = (decoded_payload: object | undefined, more: object = {}) => ({
  end_device_ids: { device_id: 'soil-01', dev_eui: '70B3D57ED0000001', application_ids: { application_id: 'farm' } },
  received_at: '2026-01-01T12:00:02Z',
  uplink_message: {
    f_port: 2,
    f_cnt: 7,
    decoded_payload,
    rx_metadata: [
      { gateway_ids: { gateway_id: 'roof' }, rssi: -97, snr: 6.5, received_at: '2026-01-01T12:00:00.000Z' },
    ],
    received_at: '2026-01-01T12:00:01Z',
    ...more,
  },
})
const signal = { timestamp: noonMs, rssi: -97, snr: 6.5, device: 'soil-01' }
const uplink = (name: string, payload: object, reading = payload): Example => [
  name,
  stack(payload),
  { ...reading, ...signal },
]

decodes('the-things-stack', {}, [
  uplink('LHT65', { TempC_SHT: 21.5, Hum_SHT: 40, BatV: 3.05 }),
  uplink('ERS', { temperature: 21, humidity: 40, light: 200, motion: 3, co2: 700, vdd: 3600 }),
  uplink('Milesight AM107', { battery: 92, temperature: 23.1, tvoc: 12 }),
  uplink('Cayenne LPP', { temperature_1: 21, analog_in_2: 3.3 }),
  uplink('a group of values', { air: { temperature: 3, pressure: 1001 } }, { air_temperature: 3, air_pressure: 1001 }),
  uplink('switches', { contact: true, tamper: false }),
  uplink('texts are dropped', { status: 'ok', temperature: 1 }, { temperature: 1 }),
  uplink('a time is no value', { temperature: 1, timestamp: 12 }, { temperature: 1 }),
  [
    'no gateway',
    stack({ temperature: 1 }, { rx_metadata: [] }),
    { temperature: 1, timestamp: noonMs + 1000, device: 'soil-01' },
  ],
  ['by MQTT', stack({ temperature: 1 }), { temperature: 1, ...signal }, 'v3/farm@ttn/devices/soil-01/up'],
  ['a join', { end_device_ids: { device_id: 'a' }, join_accept: {} }, 'no /uplink_message'],
  [
    'no formatter',
    stack(undefined),
    'the-things-stack: the uplink has no decoded_payload: add a payload formatter to the application',
  ],
])

const chirp = (object: object | undefined, more: object = {}) => ({
  deduplicationId: '3ac7e3c4-4401-4b8d-9386-a5c902f9202d',
  time: '2026-01-01T12:00:00.123456789+00:00',
  deviceInfo: {
    tenantName: 'farm',
    applicationName: 'field',
    deviceName: 'soil 1',
    devEui: '0101010101010101',
    tags: { row: '7' },
  },
  fCnt: 10,
  fPort: 5,
  data: 'AQ==',
  ...(object && { object }),
  rxInfo: [{ gatewayId: 'ac1f09fffe000001', rssi: -48, snr: 9, context: 'x' }],
  ...more,
})
const received = { timestamp: noonMs + 123.456, rssi: -48, snr: 9, device: 'soil 1' }
const codec = (name: string, object: object, reading = object): Example => [
  name,
  chirp(object),
  { ...reading, ...received },
]

decodes('chirpstack', {}, [
  codec('a codec', { temperature: 22.5, humidity: 40 }),
  codec('Milesight EM300', { battery: 90, temperature: 4.1, humidity: 77.5 }),
  codec('Dragino LSE01', { Bat: 3.2, water_SOIL: 31.2, temp_SOIL: 12 }),
  codec('Cayenne LPP', { temperatureSensor: { 1: 22.5 } }, { temperatureSensor_1: 22.5 }),
  codec('a leak', { water_leak: true }),
  codec('ON and OFF', { valve: 'ON', pump: 'OFF' }, { valve: true, pump: false }),
  ['without a name', chirp({ co2: 1 }, { deviceInfo: { devEui: '01' } }), { co2: 1, ...received, device: '01' }],
  [
    'the time of the gateway',
    chirp({ co2: 1 }, { rxInfo: [{ gwTime: noon }] }),
    { co2: 1, timestamp: noonMs, device: 'soil 1' },
  ],
  ['by MQTT', chirp({ co2: 1 }), { co2: 1, ...received }, 'application/1/device/0101010101010101/event/up'],
  [
    'a status',
    { time: noon, deviceInfo: { deviceName: 'a' }, margin: 7, batteryLevel: 75.3 },
    { battery_percentage: 75.3, timestamp: noonMs, device: 'a' },
  ],
  [
    'an unknown battery',
    { deviceInfo: { deviceName: 'a' }, batteryLevelUnavailable: true, batteryLevel: 0 },
    'no values',
  ],
  ['no codec', chirp(undefined), 'no values'],
  ['a join', { deviceInfo: { deviceName: 'a' }, devAddr: '1' }, 'no values'],
])
