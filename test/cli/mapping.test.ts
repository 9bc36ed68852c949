/** Files of other programs become readings: each preset by a file in the published format, and `--map` alone. */

import { Readable } from 'node:stream'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { readBatches, shapeOf } from '../../cli/import-batches.ts'
import { readMapping } from '../../cli/mapping/mapping.ts'
import { type MappingWords, mappingOptions } from '../../cli/mapping/mapping-options.ts'
import { type HeldReading, ReadingMerger } from '../../cli/mapping/reading-merger.ts'
import { createLocalClock, createTimeReader, type TimeFormat } from '../../cli/mapping/times.ts'
import { conversionOf, readColumnName } from '../../cli/mapping/units.ts'

interface Read {
  /** `[line, time, device, temperature, humidity, pressure, voltage, percentage]` without missing ones at the end. */
  readings: unknown[][]
  others: object[]
  rejects: [line: number, reason: string][]
  ignored: readonly string[]
}

async function read(file: Uint8Array | string, words: MappingWords, cuts: readonly number[] = []): Promise<Read> {
  const bytes = Buffer.from(file)
  const places = [0, ...cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end))
  const result: Read = { readings: [], others: [], rejects: [], ignored: [] }
  const shape = shapeOf('readings', mappingOptions(words))
  for await (const { body, mapped } of readBatches('-', Readable.from(pieces), shape)) {
    const lines = body.toString().split('\n').slice(0, -1)
    for (const [index, line] of lines.entries()) {
      const { timestamp, device, temperature, humidity, pressure, ...others } = JSON.parse(line)
      const time = new Date(timestamp).toISOString().replace('.000Z', 'Z')
      const values = [temperature, humidity, pressure, others.battery_voltage, others.battery_percentage]
      while (values.at(-1) === undefined) values.pop()
      result.others.push(others)
      result.readings.push([mapped?.sourceLines[index] ?? index + 1, time, device, ...values])
    }
    for (const { line, reason } of mapped?.rejects ?? []) result.rejects.push([line, reason])
    result.ignored = mapped?.ignoredColumns ?? []
  }
  return result
}

/** The result is the same for any cuts and any compression of the file. */
async function gives(t: Test, file: string, given: MappingWords & Partial<Read>): Promise<void> {
  const { readings = [], rejects = [], ignored, ...words } = given
  const expected = { readings, rejects, ...(ignored !== undefined && { ignored }) }
  t.match(await read(file, words), expected)
  for (const packed of [gzipSync(file), zstdCompressSync(file)]) t.match(await read(packed, words), expected)
  const whole = await read(file, words)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 5 }), async cuts => {
      t.strictSame(await read(file, words, cuts), whole)
    }),
    { numRuns: 20 },
  )
}

// History, "Download data": https://www.home-assistant.io/integrations/history/
const homeAssistantHistory = `entity_id,state,last_changed
sensor.porch_temperature,21.5,2024-01-01T00:00:00.000Z
sensor.porch_humidity,unavailable,2024-01-01T00:00:00.000Z
sensor.porch_humidity,48,2024-01-01T00:00:05.123Z
light.porch,on,2024-01-01T00:00:06.000Z
sensor.porch_battery,97,2024-01-01T00:00:05.123Z
sensor.porch_temperature,warm,2024-01-01T00:00:07.000Z
`

// Tables statistics and statistics_meta: https://data.home-assistant.io/docs/statistics/
const homeAssistantStatistics = `statistic_id,unit_of_measurement,start_ts,mean,min,max
sensor.roof_temperature,°F,1704067200.0,68.0,50,70
sensor.roof_temperature,°F,1704070800.0,69.8,50,70
sensor.roof_pressure,inHg,1704067200.0,29.92,29,30
sensor.roof_humidity,%,1704070800.0,,,
sensor.roof_humidity,%,1704070800.0,51.5,50,52
`

t.test('Home Assistant: the history of entities and long-term statistics', async t => {
  await gives(t, homeAssistantHistory, {
    preset: 'home-assistant',
    readings: [
      [2, '2024-01-01T00:00:00Z', 'porch', 21.5, null, null],
      [4, '2024-01-01T00:00:05.123Z', 'porch', null, 48, null, undefined, 97],
    ],
    rejects: [[7, 'temperature is not a number: warm']],
  })
  await gives(t, homeAssistantStatistics, {
    preset: 'home-assistant',
    readings: [
      [2, '2024-01-01T00:00:00Z', 'roof', 20, null, 1013.207489],
      [3, '2024-01-01T01:00:00Z', 'roof', 21, 51.5, null],
    ],
    ignored: ['min', 'max'],
  })
  const map = ['temperature=sensor.roof_temperature:F,device==attic']
  t.match(await read(homeAssistantStatistics, { preset: 'home-assistant', map }), {
    readings: [
      [2, '2024-01-01T00:00:00Z', 'attic', 20, null, null],
      [3, '2024-01-01T01:00:00Z', 'attic', 21, null, null],
    ],
  })
})

// The files of a console's memory card, as CumulusMX reads them: https://www.cumuluswiki.org/a/Ecowitt
const ecowitt = `\ufeffTime,Indoor Temperature(℃),Indoor Humidity(%),Outdoor Temperature(℃),Outdoor Humidity(%),Dew Point(℃),Feels Like(℃),Wind(mph),Gust(mph),Wind Direction(deg),ABS Pressure(hPa),REL Pressure(hPa),Solar Rad(w/m2),UV-Index
2024-03-31 01:55,21.0,40,8.5,91,7.1,8.5,0.0,1.1,270,980.1,1013.0,0,0
2024-03-31 03:00,21.0,40,8.4,--,7.1,8.4,0.0,1.1,270,980.0,1013.0,0,0
2024-03-31 02:30,21.0,40,8.4,92,7.1,8.4,0.0,1.1,270,980.0,1013.0,0,0
`

const ecowittSeconds = `Time,Timestamp,Indoor Temperature(°C),Indoor Humidity(%),Outdoor Temperature(°C),Outdoor Humidity(%),Dew Point(°C),Feels Like(°C),VPD(kPa),Wind(mph),Gust(mph),Wind Direction(deg),ABS Pressure(hPa),REL Pressure(hPa)
2025-06-12 13:34,1749731693,20.1,60,22.4,57,13.5,22.4,1.16,2.01,5.14,224,1000.2,1008.5
`

t.test('Ecowitt: seconds override local times and need no zone', async t => {
  t.match(await read(ecowittSeconds, { preset: 'ecowitt', map: ['device==g'] }), {
    readings: [[2, '2025-06-12T12:34:53Z', 'g', 22.4, 57, 1000.2]],
    rejects: [],
  })
})

t.test('Ecowitt: outdoor values, local times', async t => {
  await gives(t, ecowitt, {
    preset: 'ecowitt',
    map: ['device==garden'],
    zone: 'Europe/Zurich',
    readings: [
      [2, '2024-03-31T00:55:00Z', 'garden', 8.5, 91, 980.1],
      [3, '2024-03-31T01:00:00Z', 'garden', 8.4, null, 980],
    ],
    rejects: [[4, 'timestamp: there is no such time in Europe/Zurich: 2024-03-31 02:30']],
  })
  const fahrenheit = ecowitt.replaceAll('℃', '℉').replace('hPa', 'inHg')
  t.match(
    await read(fahrenheit.split('\n').slice(0, 2).join('\n'), { preset: 'ecowitt', map: ['device==g'], zone: 'UTC' }),
    { readings: [[2, '2024-03-31T01:55:00Z', 'g', -13.055556, 91, 33_189.995322]] },
  )
  await t.rejects(read(ecowitt, { preset: 'ecowitt', map: ['device==garden'] }), /name no time zone/)
  await t.rejects(read(ecowitt, { preset: 'ecowitt', zone: 'UTC' }), /no column for device; name it/)
})

// https://support.davisinstruments.com/article/b3zp8eqr2u-exporting-data-from-weatherlink-com
const davis = `"Maple Farm"
"Vantage Pro2"
""
"Date & Time","Barometer - in Hg","Inside Temp - °F","Temp - °F","High Temp - °F","Hum - %","Wind Speed - mph"
"11/3/24 12:45 AM","30.000","70.1","50.0","50.3","88","1.0"
"11/3/24 1:30 AM","30.000","70.1","--","50.3","88","1.0"
"11/3/24 1:30 AM","30.000","70.1","41.0","50.3","89","1.0"
"11/3/24 1:15 AM","30.000","70.1","41.0","50.3","89","1.0"
"11/3/24 12:30 PM","30.000","70.1","abc","50.3","89","1.0"
`

t.test('Davis WeatherLink: lines before the header, inches, and a repeated hour', async t => {
  const words: MappingWords = { preset: 'davis', map: ['device==farm'], zone: 'America/New_York' }
  const expected: Partial<Read> = {
    readings: [
      [5, '2024-11-03T04:45:00Z', 'farm', 10, 88, 1015.9166],
      [6, '2024-11-03T05:30:00Z', 'farm', null, 88, 1015.9166],
      [7, '2024-11-03T05:30:00Z', 'farm', 5, 89, 1015.9166],
      [8, '2024-11-03T06:15:00Z', 'farm', 5, 89, 1015.9166],
    ],
    rejects: [[9, 'temperature is not a number: abc']],
  }
  await gives(t, davis, { ...words, ...expected })
  t.match(await read(Buffer.from(davis, 'latin1'), words), expected)
})

// https://docs.openaq.org/aws/about, "File structure"
const openaq = `location_id,sensors_id,location,datetime,lat,lon,parameter,units,value
2178,5077881,"Del Norte",2024-05-03T01:00:00-06:00,35.1353,-106.584702,temperature,c,12.5
2178,3917,"Del Norte",2024-05-03T01:00:00-06:00,35.1353,-106.584702,o3,ppm,0.045
2178,5077882,"Del Norte",2024-05-03T01:00:00-06:00,35.1353,-106.584702,relativehumidity,%,22
2178,5077881,"Del Norte",2024-05-03T02:00:00-06:00,35.1353,-106.584702,temperature,f,50
2178,5077883,"Del Norte",2024-05-03T01:00:00-06:00,35.1353,-106.584702,pressure,mb,838
2178,5077883,"Del Norte",2024-05-03T02:00:00-06:00,35.1353,-106.584702,pressure,ft,838
`

t.test('OpenAQ: the values of one time are one reading', async t => {
  await gives(t, openaq, {
    preset: 'openaq',
    readings: [
      [2, '2024-05-03T07:00:00Z', 'Del Norte', 12.5, 22, 838],
      [5, '2024-05-03T08:00:00Z', 'Del Norte', 10, null, null],
    ],
    rejects: [[7, 'pressure cannot be in ft']],
  })
  t.match((await read(openaq, { preset: 'openaq', map: ['device=location_id'] })).readings[0]?.[2], '2178')
})

// https://docs.influxdata.com/influxdb/v2/reference/syntax/annotated-csv/
const influxdb = `#group,false,false,true,true,false,false,true,true,true
#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string,string,string
#default,mean,,,,,,,,
,result,table,_start,_stop,_time,_value,_field,_measurement,device
,,0,2023-01-01T00:00:00Z,2023-01-02T00:00:00Z,2023-01-01T00:52:00Z,15.43,temperature,weather,porch
,,0,2023-01-01T00:00:00Z,2023-01-02T00:00:00Z,2023-01-01T00:53:00.5Z,15.5,temperature,weather,porch
,,1,2023-01-01T00:00:00Z,2023-01-02T00:00:00Z,2023-01-01T00:52:00Z,59.25,humidity,weather,porch

#group,false,false,true,true,false,true,true,false,true
#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,string,string,long,string
#default,mean,,,,,,,,
,result,table,_start,_stop,_time,_field,_measurement,_value,device
,,2,2023-01-01T00:00:00Z,2023-01-02T00:00:00Z,2023-01-01T00:52:00Z,pressure,weather,1003,porch
,,2,2023-01-01T00:00:00Z,2023-01-02T00:00:00Z,2023-01-01T00:52:00Z,co2,weather,415,porch
`

t.test('InfluxDB: annotated CSV with several tables, and pivoted', async t => {
  await gives(t, influxdb, {
    preset: 'influxdb',
    readings: [
      [5, '2023-01-01T00:52:00Z', 'porch', 15.43, 59.25, 1003],
      [6, '2023-01-01T00:53:00.500Z', 'porch', 15.5, null, null],
    ],
  })
  const pivoted = ',result,table,_time,host,temp\n,,0,2023-01-01T00:52:00Z,porch,59\n'
  t.match(await read(pivoted, { preset: 'influxdb', map: ['device=host,temperature=temp:F'] }), {
    readings: [[2, '2023-01-01T00:52:00Z', 'porch', 15]],
  })
})

t.test('line protocol and JSON arrays become readings too', async t => {
  const lines =
    'weather,host=porch temp=21.5,co2=400i 1704067200\nweather,host=porch hum=48 1704067200\nweather,host=porch hum=48\n'
  await gives(t, lines, {
    map: ['device=host,temperature=temp,humidity=hum'],
    precision: 's',
    readings: [[1, '2024-01-01T00:00:00Z', 'porch', 21.5, 48, null]],
    rejects: [[3, 'timestamp is required']],
  })
  const exported = [
    '# INFLUXDB EXPORT: 1677-09-21T00:12:43Z - 2262-04-11T23:47:16Z',
    '# DDL',
    'CREATE DATABASE sensors WITH NAME autogen',
    '# DML',
    '# CONTEXT-DATABASE:sensors',
    '# writing tsm data',
    'weather,host=the\\ porch hum=48 1704067200000000000',
    'weather,host=the\\ porch temp=21.5 1704067200000000000',
    '',
  ]
  await gives(t, exported.join('\n'), {
    map: ['device=host,temperature=temp,humidity=hum'],
    readings: [[7, '2024-01-01T00:00:00Z', 'the porch', 21.5, 48, null]],
  })
  await gives(t, 'weather,host=the\\ porch say="it is, a=b",temp=21.5 1704067200000000000\n', {
    map: ['device=host,temperature=temp'],
    readings: [[1, '2024-01-01T00:00:00Z', 'the porch', 21.5, null, null]],
  })
  const array = [1, 2].map(temperature => {
    return { timestamp: 1_704_067_200_000, device: 'porch', temperature, humidity: 1, pressure: 1000 }
  })
  await gives(t, JSON.stringify(array, null, 2), {
    readings: [1, 2].map(line => [line, '2024-01-01T00:00:00Z', 'porch', line, 1, 1000]),
  })
  await t.rejects(read('[{"a":1}', {}), /ends before its JSON array does/)
})

t.test('--map: columns, units, constants and quotes', async t => {
  const file = 'When;"Temp, out (°F)";RH;P\n2024-01-01T00:00:00Z;68,0;0,5;101325\n1704067201;x;;\n'
  const map = ['timestamp=When,temperature="Temp, out (°F)"', 'humidity=RH:ratio,pressure=P:Pa,device==the porch']
  await gives(t, file, {
    map,
    readings: [[2, '2024-01-01T00:00:00Z', 'the porch', 20, 50, 1013.25]],
    rejects: [[3, 'temperature is not a number: x']],
  })
  t.strictSame(
    [...readMapping(['device=="a ""b"" , c",pressure=p:kPa'])],
    [
      ['device', { kind: 'constant', text: 'a "b" , c' }],
      ['pressure', { kind: 'column', name: 'p', unit: 'kPa' }],
    ],
  )
  for (const [text, reason] of [
    ['CO2=x', /"CO2" is neither timestamp, nor device, nor the name of a metric/],
    ['co2=x:hPa', /the unit of co2 is one of ppm, ppb/],
    ['sap_flow=x:L/h', /sap_flow has no unit that is known/],
    ['device', /= is missing/],
    ['device=', /a name is missing/],
    ['device="x', /a quote is not closed/],
    ['device=a:C', /device has no unit/],
    ['temperature=a:hPa', /the unit of temperature is one of °C, °F, K/],
    ['timestamp=a:noon', /the format of timestamp is one of auto, mdy/],
    ['device=a,device=b', /device is mapped twice/],
    ['device="a"b', /"b" is too much/],
  ] as const) {
    t.throws(() => readMapping([text]), reason, text)
  }
  await t.rejects(read(file, { map: ['device==x,temperature=Temp'] }), /no column for timestamp/)
  await t.rejects(read(file, { map: ['device==x,timestamp=When,humidity=hygro'] }), /no column for humidity/)
})

t.test('a line with another number of cells than the header is a reject, empty cells at its end apart', async t => {
  const map = ['timestamp=Time,temperature=Temp,humidity=Hum,device==porch']
  const cells =
    'Time,Temp,Hum,\n2020-05-07T07:00:07Z,21,5,40,1\n2020-05-07T07:00:08Z,21,40,,\n2020-05-07T07:00:09Z,21\n'
  await gives(t, cells, {
    map,
    readings: [[3, '2020-05-07T07:00:08Z', 'porch', 21, 40]],
    rejects: [
      [2, 'has 5 cells, but the header has 3'],
      [4, 'has 2 cells, but the header has 3'],
    ],
  })
})

t.test('a word in place of a value is missing, and the compass has letters', async t => {
  const map = ['timestamp=Time,temperature=Temp,device==porch']
  const lines = (direction: string) => `Time,Temp,Wind Direction\n2020-05-07 07:00:07 UTC,n.d.,${direction}\n`
  const time = '2020-05-07T07:00:07Z'
  t.match(await read(lines('NNE'), { map }), {
    readings: [[2, time, 'porch', null]],
    others: [{ wind_direction: 22.5 }],
  })
  t.match(await read(lines('NO'), { map }), { rejects: [[2, /^wind_direction has an O/]] })
})

t.test('a file of one metric is imported, and a binary one is refused', async t => {
  const file = 'Time,CO2\n2020-05-07T07:00:07Z,600\n'
  const map = ['timestamp=Time,device==porch']
  t.match(await read(file, { map }), { others: [{ co2: 600 }] })
  for (const words of [{ map }, { preset: 'davis' }] as const) {
    await t.rejects(read(Buffer.from(`\ufeff${file}`, 'utf16le'), words), /cannot be imported: it is UTF-16/)
    await t.rejects(read(Buffer.from(file, 'utf16le'), words), /it is UTF-16 or binary/)
    await t.rejects(read(Buffer.from('PK\u0003\u0004workbook'), words), /ZIP archive, as XLSX and ODS are/)
  }
})

t.test('columns of other metrics are sent by the names and in the units of the catalogue', async t => {
  const words: MappingWords = { preset: 'ecowitt', map: ['device==garden'], zone: 'UTC' }
  const { others, ignored } = await read(`${ecowitt.split('\n').slice(0, 2).join('\n')}\n`, words)
  t.match(others, [
    { wind_speed: 0, wind_gust: 0.491744, wind_direction: 270, solar_radiation: 0, uv_index: 0, indoor_humidity: 40 },
  ])
  t.strictSame(ignored, ['Dew Point(℃)'])
  const file = 'timestamp,device,temperature,CO2 [ppb],Sap flow (L/h),door,note\n2024-01-01,k,1,400000,7,open,x\n'
  t.match(await read(file, { zone: 'UTC' }), {
    others: [{ co2: 400, sap_flow_l_h: 7, door: 1 }],
    ignored: ['note'],
  })
  const map = ['device==k,sap_flow="Sap flow (L/h)",wind_gust=door:km/h']
  t.match((await read(file.replace(',open,', ',36,'), { zone: 'UTC', map })).others, [{ sap_flow: 7, wind_gust: 10 }])
})

t.test('other metrics are read one value a line, and in line protocol', async t => {
  const history = `entity_id,state,unit_of_measurement,last_changed
sensor.porch_co2,412,ppm,2024-01-01T00:00:00.000Z
binary_sensor.porch_door,on,,2024-01-01T00:00:00.000Z
sensor.porch_wind_speed,36,km/h,2024-01-01T00:00:00.000Z
switch.porch_light,on,,2024-01-01T00:00:00.000Z
sensor.porch_voltage,3.7,V,2024-01-01T00:00:00.000Z
`
  t.match(await read(history, { preset: 'home-assistant' }), {
    others: [{ co2: 412, door: 1, wind_speed: 10, voltage: 3.7 }],
  })
  t.match((await read(openaq, { preset: 'openaq' })).others, [{ o3: 45 }, {}])
  t.match((await read(influxdb, { preset: 'influxdb' })).others, [{ co2: 415 }, {}])
  const lines = 'w,host=porch temperature=1,co2=400i,on=T 1704067200\nw,host=porch co2_ppm=401 1704067200\n'
  t.strictSame((await read(lines, { precision: 's' })).others, [{ co2: 401, on: 1 }])
  const map = ['device=host,sap_flow=co2_ppm']
  t.strictSame((await read(lines, { precision: 's', map })).others, [{ sap_flow: 401 }])
})

t.test('any text is read without a fault of ours', async () => {
  const cell = fc.oneof(
    fc.string(),
    fc.constantFrom('2024-01-01', '1', '-', '"', '"a', ';', '\t', 'temperature', 'time', '#'),
  )
  const file = fc.array(fc.array(cell).map(cells => cells.join(','))).map(lines => lines.join('\n'))
  const preset = fc.constantFrom('home-assistant', 'ecowitt', 'davis', 'openaq', 'influxdb', undefined)
  await fc.assert(
    fc.asyncProperty(file, preset, async (text, name) => {
      const words: MappingWords = { map: ['device==x'], zone: 'UTC' }
      if (name !== undefined) words.preset = name
      const ends = ['timestamp,temperature\n', 'Time,Outdoor Temperature(F)\n', 'datetime,parameter,value\n', '']
      for (const start of ends) {
        await read(start + text, words).catch((error: Error) => {
          if (error.name !== 'CommandError') throw error
        })
      }
    }),
  )
})

t.test('times in all their forms', async t => {
  const is = (text: string, format: TimeFormat, expected: string, isLocal?: 'local') => {
    const read = createTimeReader(format)(text)
    t.equal(typeof read === 'string' ? read : new Date(read.us / 1000).toISOString(), expected, text)
    if (typeof read === 'object') t.equal(read.isLocal, isLocal === 'local', text)
  }
  is('1704067200', 'auto', '2024-01-01T00:00:00.000Z')
  is('1704067200.5', 'auto', '2024-01-01T00:00:00.500Z')
  is('1704067200123', 'auto', '2024-01-01T00:00:00.123Z')
  is('1704067200123456', 'auto', '2024-01-01T00:00:00.123Z')
  is('1704067200123456789', 'auto', '2024-01-01T00:00:00.123Z')
  is('1704067200', 's', '2024-01-01T00:00:00.000Z')
  is('2024-01-01T01:00:00+01:00', 'auto', '2024-01-01T00:00:00.000Z')
  is('2024-01-01 00:00', 'auto', '2024-01-01T00:00:00.000Z', 'local')
  is('2024/1/1 0:05', 'auto', '2024-01-01T00:05:00.000Z', 'local')
  is('1/2/24 12:00 am', 'mdy', '2024-01-02T00:00:00.000Z', 'local')
  is('1/2/2024 12:05 PM', 'mdy', '2024-01-02T12:05:00.000Z', 'local')
  is('1.2.2024 23:59:59.25', 'dmy', '2024-02-01T23:59:59.250Z', 'local')
  for (const wrong of ['2/30/2024', '1/2/2024 13:00 PM', '1/2/2024 24:00', '0/1/2024', 'x', '', '1/2']) {
    is(wrong, 'mdy', 'timestamp cannot be read', 'local')
  }
  t.throws(() => createLocalClock('Europe/Nowhere'), /there is no time zone/)
  is('05/07/2020  7:00 PM UTC', 'mdy', '2020-05-07T19:00:00.000Z')
  is('7.5.2020 07:00:07 +02:00', 'dmy', '2020-05-07T05:00:07.000Z')
  is('20200507T070007', 'auto', '2020-05-07T07:00:07.000Z', 'local')
  t.strictSame(createTimeReader('auto')('1704067200123456'), { us: 1_704_067_200_123_456, isLocal: false })
})

t.test('units: the name of a column, and the same value in another unit', async t => {
  t.strictSame(readColumnName('Outdoor Temperature(℉)'), { name: 'outdoor temperature', unit: '[degF]' })
  t.strictSame(readColumnName('Barometer - in Hg'), { name: 'barometer', unit: "[in_i'Hg]" })
  t.strictSame(readColumnName('Temp [°C]'), { name: 'temp', unit: 'Cel' })
  t.strictSame(readColumnName('Wind (mph)'), { name: 'wind (mph)', unit: undefined })
  t.strictSame(readColumnName('Temperature (in)'), { name: 'temperature (in)', unit: undefined }, 'indoors')
  t.strictSame(readColumnName('Temperature (1)'), { name: 'temperature (1)', unit: undefined }, 'a number')
  t.strictSame(readColumnName('Temperature (\ufffdC)'), { name: 'temperature', unit: 'Cel' }, 'a wrong encoding')
  t.equal(conversionOf('temperature', 'K')?.(300), 26.85)
  t.equal(conversionOf('temperature', '°F')?.(212), 100)
  t.equal(conversionOf('pressure', 'inHg')?.(29.92), 1013.207489)
  t.equal(conversionOf('humidity', 'hPa'), undefined)
  t.equal(conversionOf('humidity', 'constructor'), undefined)
})

const byText = (a: string, b: string) => (a < b ? -1 : 1)

/** Evicts half of the held lines. Returns the emitted ones as `device time: values`, and the late ones. */
function merged(heldMax: number, lines: readonly (readonly [device: string, timeUs: number, ...values: number[]])[]) {
  const merger = new ReadingMerger(heldMax)
  const late: string[] = []
  const out: HeldReading[] = []
  for (const [device, timeUs, ...values] of lines) {
    if (!merger.add({ line: 1, device, timeUs, values: Float64Array.from(values) })) late.push(`${device} ${timeUs}`)
    if (merger.isFull()) out.push(...merger.takeHalf())
  }
  out.push(...merger.takeAll())
  return { late, readings: out.map(({ device, timeUs, values }) => `${device} ${timeUs}: ${values.join(' ')}`) }
}

t.test('above the limit, the oldest lines are evicted and their later parts are late', async t => {
  const { late, readings } = merged(4, [
    ['a', 4, 4, Number.NaN],
    ['a', 1, 1, Number.NaN],
    ['a', 4, Number.NaN, 7],
    ['a', 3, 3, Number.NaN],
    ['a', 2, 2, Number.NaN],
    ['a', 1, Number.NaN, 8],
    ['b', 1, 1, 1],
    ['a', 4, Number.NaN, 9],
    ['a', 2, Number.NaN, 9],
  ])
  t.strictSame(late, ['a 1', 'a 4'])
  t.strictSame(readings.sort(byText), ['a 1: 1 NaN', 'a 2: 2 9', 'a 3: 3 NaN', 'a 4: 4 7', 'b 1: 1 1'])
})

t.test('a file of any length is complete in the order of time and of series', async t => {
  const devices = ['a', 'b', 'c', 'd', 'e', 'f']
  const times = Array.from({ length: 20 }, (_, index) => index)
  const half = (at: number) => times.slice(at, at + 5)
  const parts = (device: string, timeUs: number, field: number) =>
    [device, timeUs, ...[0, 1].map(index => (index === field ? timeUs : Number.NaN))] as const
  const byTime = times.flatMap(time => [0, 1].flatMap(field => devices.map(device => parts(device, time, field))))
  // The output of `influx_inspect`: file by file, the later hours first, and in each the series by device and field.
  const bySeries = [15, 0, 5, 10].flatMap(at =>
    devices.flatMap(device => [0, 1].flatMap(field => half(at).map(time => parts(device, time, field)))),
  )
  const whole = devices.flatMap(device => times.map(time => `${device} ${time}: ${time} ${time}`)).sort()
  for (const lines of [byTime, bySeries]) {
    const { late, readings } = merged(30, lines)
    t.strictSame(late, [])
    t.strictSame(readings.sort(byText), whole)
  }
})
