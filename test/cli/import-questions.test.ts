/** Ambiguous files are not read: all lines of a file decide, or a flag does, before anything is sent. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { readBatches, shapeOf } from '../../cli/import-batches.ts'
import { type MappingWords, mappingOptions } from '../../cli/mapping/mapping-options.ts'
import { createLocalClock } from '../../cli/mapping/times.ts'
import { temporaryFolder } from '../support/databases.ts'
import { runs } from '../support/runs.ts'

interface Read {
  /** `line time device`, and the values that are there. */
  readings: string[]
  rejects: string[]
  notices: readonly string[]
}

const folder = temporaryFolder(t)

async function read(text: string, words: MappingWords, path = '-'): Promise<Read> {
  const result: Read = { readings: [], rejects: [], notices: [] }
  if (path !== '-') writeFileSync(path, text)
  const shape = shapeOf('readings', mappingOptions(words))
  for await (const { body, mapped } of readBatches(path, Readable.from([Buffer.from(text)]), shape)) {
    for (const [index, line] of body.toString().split('\n').slice(0, -1).entries()) {
      const { timestamp, device, ...metrics } = JSON.parse(line)
      const values = Object.entries(metrics).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]))
      const time = new Date(timestamp).toISOString().replace('.000Z', 'Z')
      result.readings.push([mapped?.sourceLines[index], time, device, ...values].join(' '))
    }
    for (const { line, reason } of mapped?.rejects ?? []) result.rejects.push(`${line} ${reason}`)
    result.notices = mapped?.notices ?? []
  }
  return result
}

const porch = ['device==porch,temperature=Temp:C']

t.test('a date and a time of day in two columns', async t => {
  const file = 'Date,Time,Temp\n2020-05-07,07:00,21\n2020-05-07,7:10 PM,22\n2020-05-07,,23\n2020-05-08,07:00:30,24\n'
  t.match(await read(file, { map: [...porch, 'timestamp=Date+Time'], zone: 'UTC' }), {
    readings: [
      '2 2020-05-07T07:00:00Z porch temperature=21',
      '3 2020-05-07T19:10:00Z porch temperature=22',
      '5 2020-05-08T07:00:30Z porch temperature=24',
    ],
    rejects: ['4 timestamp has no time of day'],
  })
  const days = 'Day;Clock;Temp\n13.05.2020;07:00;21,5\n'
  t.match(await read(days, { map: [...porch, 'timestamp="Day"+"Clock":dmy'], zone: 'UTC' }), {
    readings: ['2 2020-05-13T07:00:00Z porch temperature=21.5'],
  })
  t.match(await read(file, { map: [...porch, 'timestamp=Date+"12:00"'], zone: 'UTC' }), {
    readings: [/^2 2020-05-07T12:00:00Z/, /^3 /, /^4 /, /^5 2020-05-08T12:00:00Z/],
  })
  await t.rejects(
    read(file, { map: [...porch, 'timestamp=Date'], zone: 'UTC' }),
    /line 2 has the date 2020-05-07 without a time of day, and 07:00 in .* --map 'timestamp="Date"\+"Time"'/,
  )
  await t.rejects(read(file, { map: [...porch, 'timestamp=Date+Hour'], zone: 'UTC' }), /no column Hour/)
  const day = await read('Date,Temp,Note\n2020-05-07,21,x\n', { map: [...porch, 'timestamp=Date'], zone: 'UTC' })
  t.match(day.readings, ['2 2020-05-07T00:00:00Z porch temperature=21'])
})

t.test('the order of day and month is decided by the whole file', async t => {
  const davis = (days: string[]) => `"Date & Time","Temp - °F"\n${days.map(day => `"${day} 12:00 PM","50"\n`).join('')}`
  const words: MappingWords = { preset: 'davis', map: ['device==farm'], zone: 'UTC' }
  const march = ['10/03/20', '11/03/20', '12/03/20', '13/03/20']
  t.match(await read(davis(march), words), {
    readings: [/^2 2020-03-10T12:00:00Z/, /^3 2020-03-11/, /^4 2020-03-12/, /^5 2020-03-13/],
    notices: [/dates are read as day\/month, because of 13\/03\/20 12:00 PM in line 5/],
  })
  t.match((await read(davis(['03/10/20', '03/13/20']), words)).readings, [/^2 2020-03-10/, /^3 2020-03-13/])
  t.match(await read(davis(['03/10/20']), words), {
    readings: [/^2 2020-03-10/],
    notices: [/03\/10\/20 .* read as month\/day, the usual order of davis files; --map 'timestamp="Date & Time":dmy'/],
  })
  t.strictSame((await read(davis(['03/03/20']), words)).notices, [], 'both orders are the same')
  const mapped = { ...words, map: [...(words.map ?? []), 'timestamp="Date & Time":mdy'] }
  const wrong = /13\/03\/20 .* is not month\/day; use --map 'timestamp="Date & Time":dmy'/
  await t.rejects(read(davis(march), mapped), wrong)
  await t.rejects(read(davis([...march, '03/14/20']), words), /the day comes first in 13.* and the month in 03\/14\/20/)

  const own = (day: string) => `When,Temp\n${day} 12:00,21\n`
  const any: MappingWords = { map: [...porch, 'timestamp=When'], zone: 'UTC' }
  t.match((await read(own('13.03.2020'), any)).readings, [/^2 2020-03-13T12:00:00Z/])
  t.match((await read(own('03/13/2020'), any)).readings, [/^2 2020-03-13T12:00:00Z/])
  for (const day of ['10.03.2020', '13.03.20']) {
    await t.rejects(read(own(day), any), /can be month\/day or day\/month; say which with --map 'timestamp="When":mdy'/)
  }
})

t.test('the decimal mark is one for a file', async t => {
  const words: MappingWords = { map: [...porch, 'timestamp=When,illuminance=Lux'] }
  const file = (...rows: [string, string][]) =>
    `When\tTemp\tLux\n${rows.map(row => `2020-01-01T00:00:00Z\t${row.join('\t')}\n`).join('')}`
  t.match(await read(file(['21,5', '12.345']), words), { readings: [/temperature=21.5 illuminance=12345$/] })
  const open = file(['21', '12,345'])
  const message = /12,345 in line 2 .* --decimal comma or --decimal point/
  await t.rejects(read(open, words), { message, exitStatus: 2 })
  t.match(await read(open, { ...words, decimal: 'comma' }), { readings: [/illuminance=12.345$/] })
})

t.test('a file in the own layout is sent with the mark that all of its lines decide', async t => {
  const line = (temperature: string) => `2020-01-01T00:00:00Z;porch;${temperature};40;1013\n`
  const header = 'timestamp;device;temperature;humidity;pressure\n'
  const sent = async (text: string, words: MappingWords = {}, path = join(folder, 'own.csv')) => {
    writeFileSync(path, gzipSync(text))
    const decimals = []
    for await (const { decimal } of readBatches(path, Readable.from([]), shapeOf('readings', mappingOptions(words))))
      decimals.push(decimal)
    return decimals
  }
  const many = line('12,345').repeat(50_000)
  t.strictSame(new Set(await sent(`${header}${many}${line('21.5')}`)), new Set(['point']))
  t.strictSame(new Set(await sent(`${header}${many}${line('21,5')}`)), new Set(['comma']))
  await t.rejects(sent(`${header}${many}`), /12,345 in line 2 .* --decimal comma or --decimal point/)
  t.strictSame(new Set(await sent(`${header}${many}`, { decimal: 'comma' })), new Set(['comma']))
  const points = shapeOf('points')
  const open = 'timestamp;sn;parameter;unit;value\n2020-01-01 00:00:00;A;o3;ppb;12,345\n'
  await t.rejects(Array.fromAsync(readBatches('-', Readable.from([Buffer.from(open)]), points)), /--decimal comma/)
})

t.test('a header again is read as one, or ends the import before it begins', async t => {
  const words: MappingWords = { map: ['timestamp=Time,device==porch,temperature=Temp,humidity=Hum'] }
  const first = 'Time,Temp (°C),Hum (%)\n2020-01-01T00:00:00Z,21,40\n'
  t.match(await read(`${first}Hum (%),Temp (°F),Time\n41,50,2020-02-01T00:00:00Z\n`, words), {
    readings: [/temperature=21 humidity=40$/, /^4 2020-02-01T00:00:00Z porch temperature=10 humidity=41$/],
    rejects: [],
  })
  t.match((await read(`${first}Time;Temp (°C);Hum (%)\n2020-02-01T00:00:00Z;21,5;40\n`, words)).readings[1], /=21.5 /)
  const again = read(`${first}Datum,Temp (°C),Hum (%)\n2020-02-01T00:00:00Z,40,21\n`, words)
  await t.rejects(again, /line 3 is a header again, but cannot be read: the header has no column for timestamp/)
  t.match(await read(`${first}warm,x,y\n`, words), { rejects: [/^3 temperature is not a number: x/] })

  const header = 'timestamp,device,temperature,humidity,pressure\n'
  const other = 'timestamp,device,humidity,temperature,pressure\n'
  const line = '2020-01-01T00:00:00Z,porch,21,40,1013\n'
  const batches = (text: string) =>
    Array.fromAsync(readBatches('-', Readable.from([Buffer.from(text)]), shapeOf('readings')))
  const parts = await batches(header + line + line + header + line + other + line)
  t.strictSame(
    parts.map(({ body, firstLine, lineCount }) => `${firstLine} ${lineCount} ${body}`),
    [`2 2 ${header}${line}${line}`, `5 1 ${header}${line}`, `7 1 ${other}${line}`],
  )
  await t.rejects(batches(`${header}${line}Zeit,device,humidity,temperature\n${line}`), /line 3 is a header again/)
})

const zurich: MappingWords = { map: [...porch, 'timestamp=When'], zone: 'Europe/Zurich' }
const table = (clocks: string[]) => `When,Temp\n${clocks.map((clock, at) => `2024-10-27 ${clock},${at}\n`).join('')}`

/** Times as UTC, `HH:MM`, in the order of the file. */
async function hours(clocks: string[], words: MappingWords = zurich): Promise<string[]> {
  const { readings, rejects } = await read(table(clocks), words)
  const found = [...readings, ...rejects].map(text => [Number(text.split(' ')[0]), text] as const)
  return found.sort(([a], [b]) => a - b).map(([, text]) => /T(\d\d:\d\d)/.exec(text)?.[1] ?? text.replace(/^\d+ /, ''))
}

t.test('the hour that comes twice is decided by the order of lines', async t => {
  const forward = ['01:30', '02:00', '02:30', '02:00', '02:30', '03:00']
  const utc = ['23:30', '00:00', '00:30', '01:00', '01:30', '02:00']
  t.strictSame(await hours(forward), utc)
  t.strictSame(await hours(forward.toReversed()), utc.toReversed(), 'newest first')
  t.strictSame(await hours(['01:00', '02:00', '02:00', '03:00']), ['23:00', '00:00', '01:00', '02:00'], 'once an hour')
  t.strictSame(await hours(['03:00', '02:00', '02:00', '01:00']), ['02:00', '01:00', '00:00', '23:00'])

  const untold = /comes twice in Europe\/Zurich, .* send UTC, an offset, or --ambiguous earlier\|later/
  t.match(await hours(['01:30', '02:00', '02:30', '03:00']), ['23:30', untold, untold, '02:00'], 'once only')
  t.match(await hours(['02:00', '02:30', '02:00']), [untold, untold, untold], 'no line beside the hour')
  const several = ['01:30', '02:00', '02:30', '02:10', '02:40', '02:20']
  t.match(await hours(several), ['23:30', ...Array(5).fill(untold)])
  const back = ['01:00', '01:30', '01:20', '02:00', '02:20', '02:10', '03:00']
  t.match(await hours(back), ['23:00', '23:30', '23:20', untold, untold, untold, '02:00'], 'a device has two')
  const once = ['01:30', '02:00', '03:00']
  t.strictSame(await hours(once, { ...zurich, ambiguous: 'earlier' }), ['23:30', '00:00', '02:00'])
  t.strictSame(await hours(once, { ...zurich, ambiguous: 'later' }), ['23:30', '01:00', '02:00'])
  t.strictSame(await hours(forward, { ...zurich, ambiguous: 'later' }), utc, 'where order does not decide')
})

t.test('two loggers some seconds apart decide each for itself', async t => {
  const clocks = ['01:30', '02:00', '02:30', '02:00', '02:30', '03:00']
  const lines = clocks.flatMap(clock => [`2024-10-27 ${clock}:02,a,1\n`, `2024-10-27 ${clock}:00,b,1\n`])
  const words = { map: ['timestamp=When,device=Name,temperature=Temp:C'], zone: 'Europe/Zurich' }
  for (const order of [lines, lines.toReversed()]) {
    const { readings, rejects } = await read(`When,Name,Temp\n${order.join('')}`, words)
    t.strictSame(rejects, [])
    t.equal(new Set(readings.map(text => text.split(' ').slice(1, 3).join())).size, 12)
  }
})

t.test('each reading of a file in order has its own time, or is rejected', async t => {
  const clock = createLocalClock('Europe/Zurich')
  const startUs = Date.UTC(2024, 9, 26, 22) * 1000
  const localText = (us: number) => {
    // An hour ahead after 01:00 UTC, two before.
    const aheadMs = us < Date.UTC(2024, 9, 27, 1) * 1000 ? 7_200_000 : 3_600_000
    return new Date(us / 1000 + aheadMs).toISOString().slice(0, 19).replace('T', ' ')
  }
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 0, max: 6 * 3600 }), { minLength: 1, maxLength: 40 }),
      fc.boolean(),
      async (seconds, isNewestFirst) => {
        const times = seconds.sort((a, b) => (isNewestFirst ? b - a : a - b)).map(each => startUs + each * 1e6)
        const text = `When,Temp\n${times.map(us => `${localText(us)},1\n`).join('')}`
        const { readings, rejects } = await read(text, zurich)
        t.equal(readings.length + rejects.length, times.length)
        for (const reading of readings) {
          const [line, time = ''] = reading.split(' ')
          const expected = times[Number(line) - 2] as number
          t.equal(Date.parse(time), expected / 1000, text)
        }
        const twice = times.filter(us => clock(us + 7_200e6).length === 2 || clock(us + 3_600e6).length === 2)
        if (twice.length === 0) t.strictSame(rejects, [])
      },
    ),
    runs(40, 200),
  )
})

t.test('units that the file does not state', async t => {
  const history = `entity_id,state,last_changed
sensor.porch_temperature,50,2024-01-01T00:00:00.000Z
sensor.porch_wind_speed,10,2024-01-01T00:00:00.000Z
sensor.porch_temperature,59,2024-01-01T00:01:00.000Z
binary_sensor.porch_door,on,2024-01-01T00:00:00.000Z
`
  const words: MappingWords = { preset: 'home-assistant' }
  t.strictSame((await read(history, words)).notices, [
    'no unit is stated, so values are read as: temperature in °C, wind_speed in m/s; --unit, such as --unit temperature=degF, changes that',
  ])
  t.match(await read(history, { ...words, unit: ['temperature=degF,wind_speed=mph'] }), {
    readings: [/ temperature=10 wind_speed=4.4704 door=1$/, / temperature=15$/],
    notices: [],
  })
  const stated = history
    .replace('last_changed', 'unit_of_measurement,last_changed')
    .replaceAll(/,(\d\d|on),/g, ',$1,°F,')
  const kelvin = await read(stated, { ...words, unit: ['temperature=K'] })
  t.match(kelvin.readings[0], / temperature=10/, 'the file counts more')

  const columns = 'Time,Temp,Wind (km/h)\n2024-01-01T00:00:00Z,50,36\n'
  const map = ['timestamp=Time,device==porch,temperature=Temp,wind_speed="Wind (km/h)"']
  t.match(await read(columns, { map }), { notices: [/read as: temperature in °C; --unit/] })
  t.match(await read(columns, { map, unit: ['temperature=°F'] }), {
    readings: [/ temperature=10 wind_speed=10$/],
    notices: [],
  })
  const lines = 'weather,device=porch temperature=50,co2=400 1704067200\n'
  t.match(await read(lines, { precision: 's' }), { notices: [/temperature in °C, co2 in ppm/] })
  t.match((await read(lines, { precision: 's', unit: ['temperature=F'] })).readings, [/ temperature=10 co2=400$/])
  for (const unit of ['temperature', 'temperature=', 'temperature=hPa', 'Temp=F', 'temperature=F=C']) {
    t.throws(() => mappingOptions({ unit: [unit] }), /--unit/, unit)
  }
})

t.test('all open questions are asked at once, of a file, of a pipe and of the standard input', async t => {
  const file = 'Date;Time;Temp\n10.03.2020;07:00;12,345\n'
  const words: MappingWords = { map: [...porch, 'timestamp=Date'] }
  const all = /without a time of day.*no time zone.*day\/month.*three decimals/
  await t.rejects(read(file, words), all)
  await t.rejects(read(file, words, join(folder, 'questions.csv')), all)
  const answers: MappingWords = { map: [...porch, 'timestamp=Date+Time:dmy'], zone: 'UTC', decimal: 'comma' }
  const expected = { readings: ['2 2020-03-10T07:00:00Z porch temperature=12.345'], rejects: [], notices: [] }
  t.strictSame(await read(file, answers), expected)
  t.strictSame(await read(file, answers, join(folder, 'questions.csv')), expected)
  const fifo = join(folder, 'fifo')
  await once(spawn('sh', ['-c', 'mkfifo "$0"', fifo]), 'close')
  const written = once(spawn('sh', ['-c', `printf '%s' "$0" > "$1"`, file, fifo]), 'close')
  const shape = shapeOf('readings', mappingOptions(answers))
  const batches = await Array.fromAsync(readBatches(fifo, Readable.from([]), shape))
  await written
  t.match(batches, [{ lineCount: 1 }])
})
