/** Uploads of weather stations, converted to the units of the metrics. */

import { decodes, form, noonMs } from './decoded.ts'

const time = 'dateutc=2026-01-01+12:00:00'
const passkey = 'PASSKEY=8F2C'
const of = (fields: string) =>
  form(`${passkey}&stationtype=GW2000A_V3.1.5&runtime=60&${time}&${fields}&freq=868M&model=GW2000A`)

decodes('ecowitt', { reading: { uptime: 60, timestamp: noonMs, device: 'ecowitt-8F2C' } }, [
  [
    'the outdoor sensor',
    of('tempf=50&humidity=80&baromrelin=29.921&baromabsin=29.530'),
    { temperature: 10, humidity: 80, relative_pressure: 1013.24135295, pressure: 1000.00057327 },
  ],
  ['indoors', of('tempinf=68&humidityin=45'), { indoor_temperature: 20, indoor_humidity: 45 }],
  [
    'wind',
    of('winddir=270&windspeedmph=10&windgustmph=20&maxdailygust=30'),
    { wind_direction: 270, wind_speed: 4.4704, wind_gust: 8.9408, wind_gust_day: 13.4112 },
  ],
  [
    'rain',
    of('rainratein=0.1&hourlyrainin=0.05&dailyrainin=0.5&totalrainin=10'),
    { rain_intensity: 2.54, rain_hour: 1.27, rain_day: 12.7, rain_total: 254 },
  ],
  [
    'rain of the WS90',
    of('rrain_piezo=0.1&hrain_piezo=0.05&drain_piezo=0.5&yrain_piezo=10&ws90_ver=119'),
    { rain_intensity: 2.54, rain_hour: 1.27, rain_day: 12.7, rain_year: 254 },
  ],
  [
    'the air quality sensor',
    of('tf_co2=68&humi_co2=51&pm25_co2=6.6&pm10_co2=6.8&co2=882'),
    { co2_temperature: 20, co2_humidity: 51, pm25: 6.6, pm10: 6.8, co2: 882 },
  ],
  ['the sun', of('solarradiation=512.3&uv=4'), { solar_radiation: 512.3, uv_index: 4 }],
  ['channels', of('temp1f=32&humidity1=90&temp2f=212'), { temperature_1: 0, humidity_1: 90, temperature_2: 100 }],
  [
    'soil',
    of('soilmoisture1=31&soilbatt1=1.6&tf_ch1=50'),
    { soil_moisture_1: 31, soilbatt1: 1.6, temperature_probe_1: 10 },
  ],
  ['particles', of('pm25_ch1=7&pm25_co2=8&co2=600'), { pm25_1: 7, pm25: 8, co2: 600 }],
  [
    'leaks and strikes',
    of('leak_ch2=1&lightning=12&lightning_num=3&lightning_time=1767268800'),
    { leak_2: 1, lightning_distance: 12, lightning_count_day: 3 },
  ],
  ['a name in the address', of('tempf=50'), { temperature: 10, device: 'garden' }, '?device=garden'],
  ['a missing value', of('tempf=&humidity=--'), {}],
  ['no station', form(`${time}&tempf=50`), 'ecowitt: the message names no device (webhooks: add ?device=NAME)'],
])

const wu = (fields: string, at = time) =>
  form(`ID=KCASANFR5&PASSWORD=secret&${at}&${fields}&softwaretype=vws&action=updateraw`)

decodes('wunderground', { reading: { timestamp: noonMs, device: 'KCASANFR5' } }, [
  ['°F and %', wu('tempf=70.7&humidity=90&dewptf=68.2'), { temperature: 21.5, humidity: 90 }],
  ['inHg', wu('baromin=29.1'), { relative_pressure: 985.439102 }],
  [
    'mph',
    wu('winddir=230&windspeedmph=12&windgustmph=12'),
    { wind_direction: 230, wind_speed: 5.36448, wind_gust: 5.36448 },
  ],
  ['in', wu('rainin=0.1&dailyrainin=0.25'), { rain_hour: 2.54, rain_day: 6.35 }],
  ['indoors', wu('indoortempf=68&indoorhumidity=40'), { indoor_temperature: 20, indoor_humidity: 40 }],
  ['the sun', wu('solarradiation=100&UV=2'), { solar_radiation: 100, uv_index: 2 }],
  [
    'soil',
    wu('soiltempf=50&soilmoisture=30&leafwetness=10'),
    { soil_temperature: 10, soil_moisture: 30, leaf_wetness: 10 },
  ],
  ['particles', wu('AqPM2.5=7&AqPM10=9'), { pm25: 7, pm10: 9 }],
  ['now', wu('tempf=32', 'dateutc=now'), { temperature: 0, timestamp: undefined }],
  ['what is not known', wu('tempf=32&custom1=5'), { temperature: 0, custom1: 5 }],
  ['a fast station', wu('tempf=32&realtime=1&rtfreq=2.5'), { temperature: 0 }],
  ['no values', wu(''), 'no values'],
])

const mac = (fields: string) => form(`stationtype=AMBWeatherV4.3.4&MAC=00:0E:C6:20:0F:7B&${time}&${fields}`)

decodes('ambient', { reading: { timestamp: noonMs, device: '000EC6200F7B' } }, [
  ['outdoors', mac('tempf=50&humidity=80&battout=1'), { temperature: 10, humidity: 80, battout: 1 }],
  ['indoors', mac('tempinf=68&humidityin=45&battin=1'), { indoor_temperature: 20, indoor_humidity: 45, battin: 1 }],
  ['pressure', mac('baromabsin=29.53'), { pressure: 1000.00057327 }],
  [
    'wind',
    mac('windspeedmph=10&windgustmph=20&windgustdir=90'),
    { wind_speed: 4.4704, wind_gust: 8.9408, wind_gust_direction: 90 },
  ],
  [
    'means of wind',
    mac('winddir_avg10m=90&windspdmph_avg10m=10'),
    { wind_direction_10min: 90, wind_speed_10min: 4.4704 },
  ],
  [
    'rain',
    mac('hourlyrainin=0.1&eventrainin=0.2&totalrainin=1'),
    { rain_hour: 2.54, rain_event: 5.08, rain_total: 25.4 },
  ],
  ['the sun', mac('solarradiation=10&uv=1'), { solar_radiation: 10, uv_index: 1 }],
  ['channels', mac('temp1f=32&humidity1=50&batt1=1'), { temperature_1: 0, humidity_1: 50, batt1: 1 }],
  ['soil', mac('soilhum1=20&soiltemp1f=50'), { soil_moisture_1: 20, soil_temperature_1: 10 }],
  ['co2', mac('co2=700&pm25=7'), { co2: 700, pm25: 7 }],
  ['by its PASSKEY', form(`${passkey}&${time}&tempf=50`), { temperature: 10, device: 'ambient-8F2C' }],
])
