/** InfluxDB's line protocol: accepted and rejected lines equal a plain parser. */

import fc from 'fast-check'
import t, { type Test } from 'tap'
import { SightingsReader } from '../../../ingest/formats/field-sightings.ts'
import { type LineProtocolOptions, readLineProtocol, receiptTimeMs } from '../../../ingest/formats/line-protocol.ts'
import { defaultLineNames } from '../../../ingest/formats/line-protocol-names.ts'
import { type Precision, readTimestamp, unitOf } from '../../../ingest/formats/line-protocol-text.ts'
import { MergedRows } from '../../../ingest/formats/merged-rows.ts'
import { defaultRanges } from '../../../ingest/reading.ts'
import { type Metric, metrics } from '../../../store/tables.ts'
import { runs } from '../../support/runs.ts'
import { readReference } from '../line-protocol-reference.ts'

const nowMs = Date.UTC(2026, 5, 1)
const timeMs = nowMs - 3_600_000
const ns = `${timeMs}000000`

const defaults: LineProtocolOptions = {
  names: defaultLineNames,
  precision: 'ns',
  ranges: defaultRanges,
  nowMs,
  aheadMsMax: 300_000,
  deviceDefault: undefined,
  rejectsMax: 100,
}

function read(body: string | Buffer, options: Partial<LineProtocolOptions> = {}) {
  const result = readLineProtocol(Buffer.from(body as string), { ...defaults, ...options })
  const { rows, names } = result
  const readings = Array.from({ length: rows.count }, (_, row) => {
    const values = metrics.flatMap((metric, index): [Metric, number][] => {
      const value = rows.values[row * metrics.length + index] as number
      return Number.isNaN(value) ? [] : [[metric, value]]
    })
    return {
      line: rows.lines[row],
      device: names.textOf(rows.names[row] ?? -1),
      timeMs: rows.timesMs[row],
      ...Object.fromEntries(values),
    }
  })
  return { ...result, readings }
}

/** One line, one reading, whatever is not named in it as it is here. */
function takes(t: Test, line: string, expected: object, options: Partial<LineProtocolOptions> = {}): void {
  const { readings, rejects } = read(line, options)
  t.match(readings, [{ line: 1, device: 'k', timeMs, temperature: 21.5, ...expected }], line)
  t.strictSame([readings.length, rejects], [1, []], line)
}

function refuses(t: Test, line: string, reason: RegExp, options: Partial<LineProtocolOptions> = {}): void {
  const { readings, rejects, rejected } = read(line, options)
  t.strictSame([readings.length, rejected, rejects[0]?.line], [0, 1, 1], line.slice(0, 200))
  t.match(rejects[0]?.reason, reason, line.slice(0, 200))
}

t.test('a line gives the device by its tag and the metrics by their fields', async t => {
  takes(t, `w,device=k temperature=21.5 ${ns}`, {})
  takes(t, `w,room=1,device=k,z=2 temperature=21.5,humidity=40i,pressure=1013u,battery_voltage=3.7 ${ns}`, {
    humidity: 40,
    pressure: 1013,
    battery_voltage: 3.7,
  })
  takes(t, `w,device=k temperature=21.5,battery_percentage=108 ${ns}`, { battery_percentage: 100 })
  takes(t, `w,device=k temperature=1,temperature=21.5 ${ns}`, {})
  takes(t, `  \tw,device=k  temperature=21.5   ${ns}  \r\n`, {})
  for (const text of ['-21.5', '2.15e1', '.5', '-0', '0.1234567890123456789', `0.${'0'.repeat(300)}1`, '-7i', '7u']) {
    takes(t, `w,device=k temperature=${text} ${ns}`, { temperature: Number(text.replace(/[iu]$/, '')) })
  }
})

t.test('escapes follow the documentation', async t => {
  const names = { ...defaultLineNames, deviceTags: ['my device'] }
  takes(t, `my\\ w\\,x,my\\ device=k temperature=21.5 ${ns}`, {}, { names })
  const devices = { 'a\\,b\\=c': 'a,b=c', 'C:\\dir': 'C:\\dir', 'a\\\\\\ b': 'a\\ b', 'Ku\u0308che': 'Küche' }
  for (const [text, device] of Object.entries(devices)) takes(t, `w,device=${text} temperature=21.5 ${ns}`, { device })
  refuses(t, `w,device=say "hi" temperature=1 ${ns}`, /name or a value/)
  refuses(t, `w,device=k\\ temperature=21.5 ${ns}`, /equals sign/)
  const ignored = { names: { ...defaultLineNames, unknownFields: 'ignore' as const } }
  takes(t, `w,device=k note="a \\"b\\", c=\\\\",temperature=21.5 ${ns}`, {}, ignored)
  takes(t, `w,device=k no\\ te\\=\\,="",temperature=21.5 ${ns}`, {}, ignored)
})

t.test('a text may span lines and is never read as lines', async t => {
  const ignored = { names: { ...defaultLineNames, unknownFields: 'ignore' as const } }
  const inside = `w,device=stranger temperature=1 ${ns}`
  const body = `w,device=k note="a\n${inside}\n",temperature=21.5 ${ns}\nw,device=k humidity=2 ${ns}\nx\n`
  const { readings, rejects } = read(body, ignored)
  t.match(readings, [{ line: 1, device: 'k', temperature: 21.5, humidity: 2 }])
  t.match(rejects, [{ line: 5 }])
})

t.test('an unreadable line is rejected with its reason and stores nothing', async t => {
  refuses(t, ',device=k temperature=1', /no measurement/)
  refuses(t, 'w,device=k', /no fields/)
  refuses(t, 'w,device= temperature=1', /tag without a value/)
  refuses(t, 'w,device temperature=1', /tag without a name or a value/)
  refuses(t, 'w,device=k,device=l temperature=1', /device twice/)
  refuses(t, 'w,device=a=b temperature=1', /equals sign/)
  refuses(t, 'w temperature=1', /tag device or host is required/)
  refuses(t, `w,device=${'d'.repeat(65)} temperature=1`, /at most 64 characters/)
  refuses(t, 'w,device=k temperature', /field without a name or a value/)
  refuses(t, 'w,device=k temperature=1,humidity=1 x', /not an integer/)
  refuses(t, 'w,device=k temperature=1 1 2', /behind the timestamp/)
  refuses(t, 'w,device=k temperature="1"x', /must be a number/)
  refuses(t, 'w,device=k temperature="1', /quote that is not closed/)
  refuses(t, 'w,device=k temperature=1=2', /behind a value/)
  refuses(t, `w${',a=b'.repeat(257)},device=k temperature=1`, /more than 256 tags/)
  refuses(t, `w,device=k ${'temperature=1,'.repeat(1024)}temperature=1`, /more than 1024 fields/)
  refuses(t, `w,device=k,x=${'y'.repeat(65_536)} temperature=1`, /longer than 65536 bytes/)
  t.equal(read(Buffer.from([...Buffer.from('w,device='), 0xff, ...Buffer.from(' temperature=1')])).rejected, 1)
})

t.test('a value that is not a number is rejected with its metric, one out of range alone', async t => {
  const values = ['"warm"', 'true', 't', 'F', 'NaN', 'Inf', '-', '1.5i', '-1u', '1i2', '0x10', '+1', '1_0', '1e', 'i']
  for (const value of [...values, '1'.repeat(401)]) {
    refuses(t, `w,device=k temperature=${value} ${ns}`, /^temperature must be a number$/)
  }
  refuses(t, `w,device=k humidity=104 ${ns}`, /^humidity must be between 0 and 103$/)
  const { readings, leftOut } = read(`w,device=k temperature=21.5,humidity=104 ${ns}`)
  t.strictSame(readings, [{ line: 1, device: 'k', timeMs, temperature: 21.5 }])
  const reason = 'humidity must be between 0 and 103 (other values of the reading are stored)'
  t.match(leftOut, { rejected: 1, rejects: [{ line: 1, device: 'k', reason }] })
  refuses(t, `w,device=k temperature=1e300 ${ns}`, /between -90 and 85/)
})

t.test('a field that is not a metric is rejected unless it is ignored', async t => {
  refuses(
    t,
    `w,device=k temperature=21.5,co2=400 ${ns}`,
    /^field co2 is not known: add it by "barograph metrics add", or to the metrics that the device lists$/,
  )
  refuses(t, `w,device=k ${'x'.repeat(70)}=1 ${ns}`, /^field x{63}… is not known: /)
  const names = { ...defaultLineNames, unknownFields: 'ignore' as const }
  takes(t, `w,device=k temperature=21.5,co2=400,ok=true,note="x" ${ns}`, {}, { names })
  const only = read(`w,device=k co2=400 ${ns}`, { names })
  t.strictSame([only.readings, only.rejected, only.points], [[], 0, 1])
  refuses(t, `w,device=k temperature=21.5,co2= ${ns}`, /field without a value/, { names })
})

t.test('the field that is wrong is named, not one beside it', async t => {
  for (const [fields, reason] of [
    ['load1=1,load5=NaN', /^load5 must be a number$/],
    ['load5=NaN,load1=1', /^load5 must be a number$/],
    ['load1=1,temperature="x"', /^temperature must be a number$/],
    ['load1=1,state="on"', /^field state is a text: only numbers and booleans are stored/],
    ['temperature=1,time=17i', /^field time is a time, not a metric/],
    ['load1=1,load5=2', /^field load1 is not known/],
  ] as const)
    refuses(t, `w,device=k ${fields} ${ns}`, reason)
})

t.test('aliases of columns come from the catalogue, with a voltage beside a battery', async t => {
  const battery = { battery_percentage: 80, battery_voltage: 3.005 }
  takes(t, `w,device=k temp=21.5,batteryLevel=80,voltage=3005i ${ns}`, battery)
  takes(t, `w,device=k temp=21.5,vbat=3005i ${ns}`, { battery_voltage: 3.005 })
  refuses(t, `w,device=k temp=21.5,batt=80,voltage=230 ${ns}`, /^field voltage is not known/)
  refuses(t, `w,device=k temp=21.5,voltage=24 ${ns}`, /^field voltage is not known/)
})

t.test('tags and fields may have other names, also of one measurement only', async t => {
  const names = {
    deviceTags: ['sensor', 'host'],
    fields: [
      { field: 'temp', metric: 'temperature' },
      { measurement: '%', field: 'value', metric: 'humidity' },
      { measurement: '°C', field: 'value', metric: 'temperature' },
      { measurement: 'inside', field: 'temperature', metric: 'battery_voltage' },
    ],
    unknownFields: 'reject',
  } as const
  takes(t, `w,host=x,sensor=k temp=21.5 ${ns}`, {}, { names })
  takes(t, `w,host=k temp=21.5 ${ns}`, {}, { names })
  takes(t, `°C,host=k value=21.5 ${ns}\n%,host=k value=40 ${ns}`, { humidity: 40 }, { names })
  takes(t, `inside,host=k temperature=3.7,temp=21.5 ${ns}`, { battery_voltage: 3.7 }, { names })
  refuses(t, `w,host=k value=21.5 ${ns}`, /field value is not known/, { names })
  refuses(t, `w,device=k temp=21.5 ${ns}`, /tag sensor or host is required/, { names })
  takes(t, `w temperature=21.5 ${ns}`, {}, { deviceDefault: 'k' })
  takes(t, `w,device=k temperature=21.5 ${ns}`, {}, { deviceDefault: 'other' })
})

t.test('the tag host names the device where neither another tag nor the credential does', async t => {
  takes(t, `w,host=k temperature=21.5 ${ns}`, {})
  takes(t, `w,host=gateway,device=k temperature=21.5 ${ns}`, {})
  takes(t, `w,host=gateway temperature=21.5 ${ns}`, {}, { deviceDefault: 'k' })
  refuses(t, `w,host=a,host=b temperature=21.5 ${ns}`, /the tag host twice/)
})

t.test('a timestamp counts in its unit and is truncated to milliseconds', async t => {
  const gives = (text: string, precision: Precision, expected: number) => {
    const found = readTimestamp(Buffer.from(text), 0, text.length, unitOf(precision))
    t.ok(Object.is(found, expected), `${text} ${precision}`)
  }
  gives('1767225600123999999', 'ns', 1_767_225_600_123)
  gives('1767225600123999', 'us', 1_767_225_600_123)
  gives('1767225600123', 'ms', 1_767_225_600_123)
  gives('1767225600', 's', 1_767_225_600_000)
  gives('29453760', 'm', 1_767_225_600_000)
  gives('490896', 'h', 1_767_225_600_000)
  gives('9223372036854775807', 'ns', 9_223_372_036_854)
  gives('-1500000', 'ns', -1)
  for (const text of ['', '-', '1.5', '1e9', '17672256001239999990', ' 1', '1x']) gives(text, 'ns', Number.NaN)
  refuses(t, 'w,device=k temperature=1 1767225600', /not be before 2000-01-01 .*; its unit is ns/)
  refuses(t, `w,device=k temperature=1 ${ns}`, /not be in the future; its unit is s/, { precision: 's' })
  refuses(t, `w,device=k temperature=1 ${nowMs + 300_001}000000`, /future/)
  takes(t, `w,device=k temperature=21.5 ${nowMs + 300_000}000000`, { timeMs: nowMs + 300_000 })
  takes(t, 'w,device=k temperature=21.5', { timeMs: receiptTimeMs })
})

t.test('rejects are counted without end and listed up to a limit', async t => {
  const { rejects, rejected } = read('x\n'.repeat(1000), { rejectsMax: 3 })
  t.strictSame([rejects.length, rejected], [3, 1000])
})

t.test('rows merge and grow as a map of them would', async () => {
  const put = fc.tuple(fc.nat(20), fc.nat(200), fc.nat(4), fc.double({ noNaN: true }))
  const property = fc.property(fc.array(put, { maxLength: 400 }), puts => {
    const rows = new MergedRows(2)
    const expected = new Map<string, number[]>()
    for (const [device, time, index, value] of puts) {
      const values = new Float64Array(5).fill(Number.NaN)
      values[index] = value
      rows.put(1, device, nowMs + time * 60_000, values)
      const known = expected.get(`${device} ${time}`) ?? [...new Float64Array(5).fill(Number.NaN)]
      expected.set(`${device} ${time}`, known.with(index, value))
    }
    const { count, values } = rows.take()
    return count === expected.size && [...expected.values()].flat().every((value, at) => Object.is(value, values[at]))
  })
  fc.assert(property, runs(60, 300))
})

/** Lines of all sorts, most of them nearly right. */
const oneOf = (texts: string) => fc.constantFrom(...texts.split('|'))
const name = oneOf('temperature|humidity|pressure|battery_voltage|co2|no\\ te|x\\=||a"')
const value = fc.oneof(
  fc.double({ min: -100, max: 1200, noNaN: true }).map(String),
  fc.integer({ min: -100, max: 1200 }).map(number => `${number}i`),
  oneOf('""|"a b"|"\\""|"\n"|"a,b=1\nw,device=q temperature=1"|true||1|1"|"|\\'),
  oneOf('="x\n"|1="\n"|1\\="\n"|1\\|"\\\\"|"x"y|1,|50|33.333|12u'),
)
const field = fc.tuple(name, value).map(([field, text]) => `${field}=${text}`)
const tag = oneOf('device=k|device=l|device=k\\ 1|room=1|device=K\u00fc|a=\\=|x|x=|b=\\')
const time = oneOf(`| ${ns}| ${ns}| ${timeMs + 1}999999 | 17| x|\r| ${ns}\r|  | ="\n"`)
const series = fc.tuple(fc.constantFrom('w', 'w\\ x', '', '=', ' w', 'a\\'), fc.array(tag, { maxLength: 3 }))
const point = fc
  .tuple(series, fc.array(field, { maxLength: 4 }), time)
  .map(([[measurement, tags], fields, at]) => `${[measurement, ...tags].join(',')} ${fields.join(',')}${at}`)
const line = fc.oneof(
  { weight: 8, arbitrary: point },
  { weight: 1, arbitrary: fc.constantFrom('# c "', '', '\r', ' ', '\t#', '\\', '"', ',', '=', 'w,device=k') },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...'w,=" \\\n\r1dk.i#'), maxLength: 30 }) },
)
const body = fc.array(line, { maxLength: 8 }).map(lines => Buffer.from(lines.join('\n')))

function differsFromReference(bytes: Buffer, ignoreUnknown: boolean): string | undefined {
  const names = { ...defaultLineNames, unknownFields: ignoreUnknown ? ('ignore' as const) : ('reject' as const) }
  const { readings, rejects } = read(bytes, { names })
  const expected = readReference(bytes, { unitNs: 1n, latestMs: nowMs + 300_000, ignoreUnknown })
  const ours = readings.map(({ line: _, device, timeMs, ...values }): [string, Partial<Record<Metric, number>>] => {
    return [`${device}|${timeMs === receiptTimeMs ? 'receipt' : timeMs}`, values]
  })
  const sorted = (rows: Iterable<readonly [string, Partial<Record<Metric, number>>]>) => {
    const texts = [...rows].map(([key, values]) => `${key}: ${metrics.map(metric => values[metric] ?? '').join()}`)
    return texts.sort((a, b) => (a < b ? -1 : 1)).join('; ')
  }
  const found = `${sorted(ours)} ${rejects.map(reject => reject.line)}`
  const wanted = `${sorted(expected.rows)} ${expected.rejected}`
  return found === wanted ? undefined : `${JSON.stringify(bytes.toString())}: ${found}, not ${wanted}`
}

t.test('a body names so many devices and no more', async t => {
  const linesOf = (count: number) =>
    Array.from({ length: count }, (_, index) => `w,device=k${index},room=a temperature=1 ${ns}\n`).join('')
  const all = read(linesOf(10_000))
  t.match(all, { isTooLong: false, points: 10_000 })
  t.ok(
    all.readings.every(({ device }, index) => device === `k${index}`),
    'each by its name',
  )
  t.match(read(linesOf(10_001)), { isTooLong: true })
  const again = linesOf(10_000).replaceAll('room=a', 'room=b')
  t.match(read(linesOf(10_000) + again), { isTooLong: false }, 'in whatever series')
})

t.test('a body that reaches the bound on its fields with its last line is read whole', async t => {
  const limits = { pairsMax: 6, fieldsMax: 100 }
  const bodyOf = (devices: number) =>
    Array.from({ length: devices }, (_, index) => `w,device=k${index} co2=1,wind=2 ${ns}\n`).join('')
  t.match(read(bodyOf(3), { sightings: new SightingsReader(limits) }), { isTooLong: false, points: 3 })
  t.match(read(bodyOf(4), { sightings: new SightingsReader(limits) }), { isTooLong: true })
})

t.test('any body, cut at every byte, gives the results of the plain parser', async () => {
  const property = fc.property(body, fc.boolean(), (bytes, ignoreUnknown) => {
    for (let end = bytes.length; end >= 0; end--) {
      const difference = differsFromReference(bytes.subarray(0, end), ignoreUnknown)
      if (difference !== undefined) throw new Error(difference)
    }
  })
  fc.assert(property, runs(60, 1500))
})

t.test('any bytes at all are read', async () => {
  const property = fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
    const difference = differsFromReference(Buffer.from(bytes), true)
    if (difference !== undefined) throw new Error(difference)
  })
  fc.assert(property, runs(200, 2000))
})
