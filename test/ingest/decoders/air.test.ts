/** Messages of air quality sensors and of the device API of ThingsBoard. */

import { decodes, noonMs } from './decoded.ts'

const airrohr = (values: Record<string, unknown>, more: object = { esp8266id: '4620979' }) => ({
  ...more,
  software_version: 'NRZ-2024-135',
  sensordatavalues: Object.entries(values).map(([value_type, value]) => ({ value_type, value })),
})

decodes('airrohr', { reading: { device: 'esp8266-4620979' } }, [
  ['SDS011', airrohr({ SDS_P1: '19.53', SDS_P2: '7.50' }), { pm10: 19.53, pm25: 7.5 }],
  ['DHT22', airrohr({ temperature: '22.70', humidity: '39.50' }), { temperature: 22.7, humidity: 39.5 }],
  [
    'BME280 in Pa',
    airrohr({ BME280_temperature: '21.4', BME280_pressure: '101325.00', BME280_humidity: '45.2' }),
    { temperature: 21.4, pressure: 1013.25, humidity: 45.2 },
  ],
  [
    'SPS30',
    airrohr({ SPS30_P0: '1', SPS30_P2: '2', SPS30_P4: '3', SPS30_P1: '4' }),
    { pm1: 1, pm25: 2, pm4: 3, pm10: 4 },
  ],
  ['PMS', airrohr({ PMS_P0: '1', PMS_P1: '3', PMS_P2: '2' }), { pm1: 1, pm10: 3, pm25: 2 }],
  ['noise', airrohr({ DNMS_noise_LAeq: '48.2', DNMS_noise_LA_min: '40' }), { noise: 48.2, DNMS_noise_LA_min: 40 }],
  [
    'the radio',
    airrohr({ SDS_P1: '1', samples: '914914', min_micro: '149', max_micro: '20000', signal: '-70' }),
    { pm10: 1, rssi: -70 },
  ],
  [
    'two thermometers',
    airrohr({ temperature: '20', BMP280_temperature: '21' }),
    { temperature: 20, BMP280_temperature: 21 },
  ],
  ['a value that is no text', airrohr({ P1: 4.5 }), { pm10: 4.5 }],
  ['an ESP32', airrohr({ P2: '4' }, { esp32id: 'ab12' }), { pm25: 4, device: 'esp32-ab12' }],
  ['a place', airrohr({ GPS_lat: '52.5', P2: '4' }), { pm25: 4 }],
  ['SCD30', airrohr({ SCD30_co2_ppm: '612.00' }), { co2: 612 }],
  [
    'PPD42NS, whose P1 is a number of particles',
    airrohr({ durP1: '123', ratioP1: '0.41', P1: '214.5', durP2: '1', ratioP2: '0', P2: '0.62', temperature: '20' }),
    { temperature: 20 },
  ],
  ['no list', { esp8266id: '1' }, 'airrohr: must have sensordatavalues'],
])

const serial = { serialno: '84fce612f5b8' }

decodes('airgradient', { reading: { device: '84fce612f5b8' } }, [
  [
    'an indoor monitor',
    { ...serial, rco2: 447, pm02: 6, atmp: 25.87, rhum: 43, wifi: -53 },
    { co2: 447, pm25: 6, temperature: 25.87, humidity: 43, rssi: -53 },
  ],
  [
    'all particles',
    { ...serial, pm01: 3, pm02: 6, pm10: 8, pm003Count: 442 },
    { pm1: 3, pm25: 6, pm10: 8, pm003Count: 442 },
  ],
  [
    'indices',
    { ...serial, tvocIndex: 100.9, noxIndex: 1, tvocRaw: 31028 },
    { voc_index: 100.9, nox_index: 1, tvocRaw: 31028 },
  ],
  [
    'compensated',
    { ...serial, pm02Compensated: 5.5, atmpCompensated: 24, rhumCompensated: 50 },
    { pm25_compensated: 5.5, temperature_compensated: 24, humidity_compensated: 50 },
  ],
  ['O-1PST', { ...serial, pm02: 1, boot: 8, bootCount: 8, firmware: '3.6.2', model: 'O-1PST' }, { pm25: 1 }],
  ['two channels', { ...serial, pm02: 1, channels: { 1: { pm02: 1 }, 2: { pm02: 2 } } }, { pm25: 1 }],
  ['zero is a value', { ...serial, pm02: 0 }, { pm25: 0 }],
  ['null is none', { ...serial, pm02: null, rco2: 400 }, { co2: 400 }],
  ['a name in the address', { rco2: 400 }, { co2: 400, device: 'hall' }, '?device=hall'],
  ['by MQTT', { rco2: 400 }, { co2: 400, device: 'ab' }, 'airgradient/readings/ab'],
  ['no name', { rco2: 400 }, 'airgradient: the message names no device (webhooks: add ?device=NAME)'],
])

const sensor = { SensorId: '84:f3:eb:7b:c8:ee', DateTime: '2026/01/01T12:00:00z' }

decodes('purpleair', { reading: { timestamp: noonMs, device: '84f3eb7bc8ee' } }, [
  ['°F', { ...sensor, current_temp_f: 68, current_humidity: 40 }, { temperature: 20, humidity: 40 }],
  ['pressure in hPa', { ...sensor, pressure: 1008.51 }, { pressure: 1008.51 }],
  ['particles', { ...sensor, pm1_0_atm: 1.5, pm2_5_atm: 3.2, pm10_0_atm: 4 }, { pm1: 1.5, pm25: 3.2, pm10: 4 }],
  ['channel B', { ...sensor, pm2_5_atm: 3, pm2_5_atm_b: 3.1 }, { pm25: 3, pm25_b: 3.1 }],
  ['counts are dropped', { ...sensor, p_0_3_um: 500, pm2_5_atm: 3 }, { pm25: 3 }],
  ['the index is dropped', { ...sensor, 'pm2.5_aqi': 12, pm2_5_atm: 3 }, { pm25: 3 }],
  ['a gas sensor', { ...sensor, gas_680: 120.5 }, { gas_680: 120.5 }],
  ['the radio', { ...sensor, rssi: -60, uptime: 900 }, { rssi: -60, uptime: 900 }],
  [
    'the place as a name',
    { Geo: 'PurpleAir-c8ee', pm2_5_atm: 1 },
    { pm25: 1, timestamp: undefined, device: 'PurpleAir-c8ee' },
  ],
  ['an epoch', { SensorId: 'a', response_date: noonMs / 1000, pm2_5_atm: 1 }, { pm25: 1, device: 'a' }],
  ['no values', sensor, 'no values'],
])

const two = [
  { ts: noonMs, values: { temperature: 42 } },
  { ts: noonMs + 1000, values: { temperature: 43 } },
]
const read = (temperature: number, device: string, timestamp?: number) => ({
  temperature,
  ...(timestamp && { timestamp }),
  device,
})

decodes('thingsboard', {}, [
  ['values alone', { temperature: 42, humidity: 73 }, { temperature: 42, humidity: 73, device: 'a' }, '?device=a'],
  ['with a time', two[0], read(42, 'a', noonMs), '?device=a'],
  ['a list', two, [read(42, 'a', noonMs), read(43, 'a', noonMs + 1000)], '?device=a'],
  ['a list of values', [{ temperature: 1 }, { temperature: 2 }], [read(1, 'a'), read(2, 'a')], '?device=a'],
  [
    'a gateway',
    { 'Device A': two, 'Device B': [{ values: { temperature: 1 } }] },
    [read(42, 'Device A', noonMs), read(43, 'Device A', noonMs + 1000), read(1, 'Device B')],
    'v1/gateway/telemetry',
  ],
  ['a device in the body', { device: 'b', temperature: 1 }, read(1, 'b')],
  ['a device beside the values', { device: 'b', ts: noonMs, values: { temperature: 1 } }, read(1, 'b', noonMs)],
  ['nested', { device: 'b', soil: { moisture: 31 } }, { soil_moisture: 31, device: 'b' }],
  ['switches', { device: 'b', door: true }, { door: true, device: 'b' }],
  ['texts', { device: 'b', mode: 'auto', valve: 'ON' }, { valve: true, device: 'b' }],
  ['nothing', [], 'no values'],
  ['too many', Array(1001).fill({ temperature: 1 }), 'thingsboard: more than 1000 readings in a message', '?device=a'],
])
