/** Fields without a column in bulk bodies have the verdicts of single readings in any format and at any cut. */

import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import type { CustomField } from '../../ingest/custom-fields.ts'
import type { Unresolved } from '../../ingest/formats/encode.ts'
import { defaultLineNames } from '../../ingest/formats/line-protocol-names.ts'
import type { Format } from '../../ingest/formats/lines.ts'
import type { Series } from '../../ingest/formats/row-kind.ts'
import { createImporter, NamesUnavailable } from '../../ingest/import/import.ts'
import { createLineImporter } from '../../ingest/import/line-protocol-import.ts'
import type { FieldResolver, SentField } from '../../ingest/import/resolve-names.ts'
import { readRecord } from '../../ingest/journal/record.ts'
import { defaultRanges } from '../../ingest/reading.ts'
import { readings } from '../../ingest/readings-table.ts'
import type { TestHooks } from '../support/databases.ts'
import { runs } from '../support/runs.ts'

const nowMs = Date.UTC(2026, 5, 1)
const timeMs = Date.UTC(2026, 0, 1)

/** Metrics by name and alias. The number of a metric is also the number of its series of every device. */
const metrics = new Map<string, { name: string; field: CustomField }>(
  [
    ['co2', 'co2', 11, 0, 100_000],
    ['co2_ppm', 'co2', 11, 0, 100_000],
    ['door', 'door', 12, 0, 1],
    ['flow', 'flow', 13, -Infinity, Infinity],
    ['level', 'level', 14, 0, Infinity],
  ].map(([field, name, series, min, max]) => [
    field as string,
    { name: name as string, field: { series: Number(series), min: Number(min), max: Number(max) } },
  ]),
)
const lists: Record<string, string[]> = { listing: ['co2', 'temperature'], metered: ['flow'] }

function findDevice(name: string): Series | Unresolved {
  if (name.startsWith('unknown')) return { code: 'DEVICE_UNKNOWN', reason: 'there is no device of this name' }
  return { number: 7, symbol: `${name}-7`, metrics: lists[name] ?? null }
}

interface Asked {
  /** Names that were resolved, for which a device may be made. */
  resolved: string[]
  fields: string[]
}

function createResolver(asked: Asked, isAway = () => false): FieldResolver {
  const fieldOf = ({ device, field }: SentField) => {
    asked.fields.push(`${device.symbol} ${field}`)
    const metric = metrics.get(field)
    return metric !== undefined && (device.metrics?.includes(metric.name) ?? true) ? metric.field : undefined
  }
  return {
    find: names => names.map(findDevice),
    async resolve(sent) {
      if (isAway()) throw new NamesUnavailable('away')
      return sent.map(fieldOf)
    },
    metricsOf: async fields => fields.map(field => metrics.get(field)?.name),
  }
}

interface StoredRow {
  device: string | undefined
  timeUs: number
  values: Record<string, number>
  custom: Record<number, number>
}

function rowsIn(records: Uint8Array): StoredRow[] {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  const rows: StoredRow[] = []
  for (let offset = 0; offset < view.byteLength; offset += view.getUint16(offset, true)) {
    const { symbols, timeUs, values, custom } = readRecord(readings, view, offset)
    const given = Object.entries(values).filter(([, value]) => !Number.isNaN(value))
    const others = Object.fromEntries(custom.map(({ series, value }) => [series, value]))
    rows.push({ device: symbols[0]?.replace(/-7$/, ''), timeUs, values: Object.fromEntries(given), custom: others })
  }
  return rows
}

function startImporter(t: TestHooks, limits: object = {}) {
  const rows: StoredRow[] = []
  const asked: Asked = { resolved: [], fields: [] }
  let isAway = false
  const append = async (records: Uint8Array) => {
    rows.push(...rowsIn(records))
    return 'stored' as const
  }
  const importer = createImporter({ kind: 'readings', append, now: () => nowMs, limits })
  t.teardown(() => importer.close())
  async function run(body: string, format: Format) {
    rows.length = 0
    asked.resolved.length = 0
    asked.fields.length = 0
    const resolve = async (names: readonly (readonly string[])[]) => {
      asked.resolved.push(...names.map(([name = '']) => name))
      return names.map(([name = '']) => findDevice(name))
    }
    const fields = createResolver(asked, () => isAway)
    const source = { body: Readable.from([Buffer.from(body)]), format, resolve, fields }
    const { report, failure } = await importer.run(source)
    const { accepted, ignored, leftOut, rejects } = report
    const reasons = rejects.map(({ line, reason }) => `${line}: ${reason}`)
    return { rows: [...rows], accepted, ignored, leftOut, reasons, failure, asked }
  }
  function setAway(away: boolean): void {
    isAway = away
  }
  return { run, setAway }
}

const base = { timestamp: timeMs, device: 'k', temperature: 1, humidity: null, pressure: null }

const bodies: Record<Format, (fields: object) => string> = {
  ndjson: fields => JSON.stringify(fields),
  json: fields => JSON.stringify([fields]),
  csv: fields => `${Object.keys(fields).join()}\n${Object.values(fields).map(cellOf).join()}\n`,
}

function cellOf(value: unknown): string {
  return value === null ? '' : typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : String(value)
}

const { run, setAway } = startImporter(t)

for (const format of ['ndjson', 'json', 'csv'] as const) {
  const line = format === 'csv' ? 2 : 1
  const one = async (fields: object) => await run(bodies[format](fields), format)

  t.test(`${format}: values of metrics are stored, others are named, one out of range is left out`, async t => {
    const empty = { ...base, temperature: null }
    const cases: [fields: object, expected: object][] = [
      [{ ...base, co2: 1, co2_ppm: 2 }, { rows: [{ custom: { 11: 2 } }] }],
      [
        { ...base, co2: -1, flow: 5 },
        { accepted: 1, reasons: [], rows: [{ values: { temperature: 1 }, custom: { 13: 5 } }] },
      ],
      [
        { ...base, temperature: -127, level: -1, flow: 5 },
        { accepted: 1, rows: [{ values: {}, custom: { 13: 5 } }], leftOut: { fields: ['temperature', 'level'] } },
      ],
      [
        { ...base, temperature: -127, level: -1 },
        { reasons: [`${line}: temperature must be between -90 and 85; level must be at least 0`] },
      ],
      [{ ...empty, flow: 1 }, { rows: [{ values: {}, custom: { 13: 1 } }] }],
      [{ ...empty, unknown_one: 1 }, { reasons: [/at least one metric must be a number/] }],
    ]
    for (const [fields, expected] of cases) t.match(await one(fields), expected, JSON.stringify(fields))
    const sent = { co2_ppm: 400.5, door: true, flow: -3, note: 'open', unknown_one: 4, level: null }
    const taken = await one({ ...base, ...sent })
    const row = { device: 'k', timeUs: timeMs * 1000, values: { temperature: 1 } }
    t.match(taken, { reasons: [], rows: [{ ...row, custom: { 11: 400.5, 12: 1, 13: -3 } }] })
    t.same(new Set(taken.ignored), new Set(['note', 'unknown_one', ...(format === 'csv' ? ['level'] : [])]))
    const reason = 'co2 must be between 0 and 100000 (other values of the reading are stored)'
    const { leftOut } = await one({ ...base, co2: -1 })
    t.match(leftOut, { rejected: 1, rejects: [{ line, device: 'k', reason }], fields: ['co2'] })
    const { timestamp, ...untimed } = base
    for (const ts of [timestamp, timestamp / 1000, timestamp * 1000, new Date(timestamp).toISOString()]) {
      const timed = await one({ ts, ...untimed, created_at: 17 })
      t.match(timed, { accepted: 1, rows: [{ timeUs: timestamp * 1000 }], ignored: ['created_at'] })
    }
    const twice = await one({ ts: timestamp, time: timestamp + 60_000, ...untimed })
    t.match(twice.reasons, [/: time is another time than ts$/])
  })

  t.test(`${format}: of a device that lists its metrics, no others are stored`, async t => {
    const listing = { timestamp: timeMs, device: 'listing' }
    const whole = await one({ ...listing, co2: 400, temperature: 3, humidity: 900, flow: 3 })
    t.match(whole.rows, [{ values: { temperature: 3 }, custom: { 11: 400 } }])
    t.strictSame(Object.keys(whole.rows[0]?.values ?? {}), ['temperature'])
    t.same(new Set(whole.ignored), new Set(['flow', 'humidity']))
    const refused = await one({ ...listing, humidity: 2, pressure: 1000 })
    t.strictSame(refused.reasons, [`${line}: co2 at least one metric must be a number`])
    t.match((await one({ ...listing, co2: 400, humidity: 2 })).rows, [{ custom: { 11: 400 } }])
    t.match((await one({ ...listing, co2_ppm: null, temperature: 3 })).rows, [{ values: { temperature: 3 } }])
    t.match((await one({ timestamp: timeMs, device: 'metered', flow: 3 })).rows, [{ custom: { 13: 3 } }])
  })
}

t.test('no metric and no device is made for a reading that is refused', async t => {
  const lines = [
    { ...base, device: 'a', temperature: 'x', co2: 1 },
    { ...base, device: 'b', flow: 1 },
    { ...base, device: 'unknown', door: 1 },
  ]
  const { asked, reasons } = await run(lines.map(line => JSON.stringify(line)).join('\n'), 'ndjson')
  t.strictSame(asked.resolved, ['b', 'unknown'])
  t.strictSame(asked.fields, ['b-7 flow'])
  t.strictSame(reasons, ['1: temperature must be a number or null', '3: there is no device of this name'])
})

t.test('a file may have any metrics while a line needs a value of one', async t => {
  t.match(await run(`timestamp,device,co2\n${timeMs},k,3\n`, 'csv'), { accepted: 1, failure: undefined })
  const lines = `${timeMs},k,21\n${timeMs + 1},k,\n`
  const one = await run(`timestamp,device,temperature\n${lines}`, 'csv')
  t.match(one, { accepted: 1, reasons: [/^3: temperature at least one metric/] })
  t.match((await run('timestamp,co2\n', 'csv')).failure, { code: 'HEADER_INVALID', reason: /lacks device/ })
})

t.test('while nothing can be made, nothing is stored', async t => {
  setAway(true)
  t.teardown(() => setAway(false))
  const body = JSON.stringify({ ...base, co2: 1 })
  t.match(await run(body, 'ndjson'), { accepted: 0, failure: { code: 'DATABASE_AWAY' } })
  t.match(await run(JSON.stringify(base), 'ndjson'), { accepted: 1, failure: undefined }, 'columns need no registry')
})

t.test('a thousand unknown columns are named, and thousands of fields are kept', async t => {
  const columns = Array.from({ length: 1000 }, (_, index) => `x${index}`)
  const header = `timestamp,device,temperature,humidity,pressure,flow,${columns.join()}\n`
  const cells = `k,1,2,1000,7,${columns.map(() => '5').join()}\n`
  const lines = Array.from({ length: 50 }, (_, index) => `${timeMs + index},${cells}`)
  const { rows, ignored } = await run(header + lines.join(''), 'csv')
  t.strictSame([rows.length, ignored.length], [50, 1000])
  t.ok(rows.every(({ custom }) => custom[13] === 7))
  const objects = Array.from({ length: 200 }, (_, index) => {
    const others = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`y${index}_${at}`, 1]))
    return JSON.stringify({ ...base, timestamp: timeMs + index, device: `d${index}`, ...others, flow: index })
  })
  const many = await run(objects.join('\n'), 'ndjson')
  const flows = many.rows.map(({ custom }) => custom[13])
  t.strictSame(flows, [...objects.keys()], 'a chunk ends where its fields are too many')
  t.equal(many.ignored.length, 100)
})

/** The stored fields of a device without a list of metrics, computed by hand. */
function expectedCustom(fields: Record<string, unknown>): Record<number, number> {
  const found: Record<number, number> = {}
  for (const [name, value] of Object.entries(fields)) {
    const metric = metrics.get(name)
    const number = typeof value === 'boolean' ? Number(value) : value
    if (metric === undefined || typeof number !== 'number') continue
    if (number < metric.field.min || number > metric.field.max) continue
    found[metric.field.series] = number
  }
  return found
}

const fieldNames = fc.oneof(
  { arbitrary: fc.constantFrom(...metrics.keys()), weight: 3 },
  fc.constantFrom('CO2', '', ' ', 'a"b', 'a,b', 'é', '__proto__', 'constructor', 'toString', 'x'.repeat(70), 'a\\b'),
)
const usualValues = [null, true, false, 0, 1, -1, 0.1, -5e-7, 1e21, 400.5, 123_456_789_012_345]
const fieldValues = fc.oneof(
  fc.constantFrom(...usualValues, 'NaN', 'text', 'a"b', '1e5x'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => (value === 0 ? 0 : value)),
)
const fieldSets = fc.array(fc.tuple(fieldNames, fieldValues), { maxLength: 8 })

t.test('any fields give the same readings as JSON, NDJSON and CSV, wherever the body is cut', async t => {
  const { run } = startImporter(t, { chunkBytes: 700, lineBytesMax: 600 })
  const bodyOf = (sets: Record<string, unknown>[], format: 'json' | 'ndjson'): string => {
    const all = sets.map((fields, index) => ({ ...base, timestamp: timeMs + index, ...fields }))
    return format === 'json' ? JSON.stringify(all) : all.map(fields => JSON.stringify(fields)).join('\n')
  }
  const property = fc.asyncProperty(fc.array(fieldSets, { minLength: 1, maxLength: 6 }), async entries => {
    const sets = entries.map(set => Object.fromEntries(set))
    const timeUsOf = (index: number) => (timeMs + index) * 1000
    const expected = sets.map((fields, at) => ({ timeUs: timeUsOf(at), custom: expectedCustom(fields) }))
    for (const format of ['json', 'ndjson'] as const) {
      const { rows } = await run(bodyOf(sets, format), format)
      const found = rows.map(({ timeUs, custom }) => ({ timeUs, custom }))
      if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`${format}: ${JSON.stringify(found)}`)
    }
    for (const [index, fields] of sets.entries()) {
      // A header has the spaces around a name trimmed away, and needs one.
      const names = Object.keys(fields).filter(name => name.trim() !== '')
      const plain = Object.fromEntries(names.map(name => [name, fields[name]]))
      const header = [...Object.keys(base), ...names].map(cellOf).join()
      const cells = [...Object.values({ ...base, timestamp: timeMs + index }), ...Object.values(plain)]
      const { rows } = await run(`${header}\n${cells.map(cellOf).join()}\n`, 'csv')
      const custom = expectedCustom(plain)
      const found = rows.map(row => row.custom)
      if (JSON.stringify(found) !== JSON.stringify([custom])) throw new Error(`csv: ${JSON.stringify(found)}`)
    }
  })
  await fc.assert(property, runs(8, 60))
})

function startLines(t: TestHooks, unknownFields: 'reject' | 'ignore') {
  const rows: StoredRow[] = []
  const asked: Asked = { resolved: [], fields: [] }
  let stampUs = nowMs * 1000
  const importer = createLineImporter({
    ingest: {
      append: async records => {
        rows.push(...rowsIn(records))
        return 'stored'
      },
      stampUs: () => ++stampUs,
      term: () => 0,
      clockUs: () => nowMs * 1000,
      status: () => ({ journal: { bytes: 0, bytesMax: 1 << 30, issue: undefined } }) as never,
    },
    names: { ...defaultLineNames, unknownFields },
    ranges: defaultRanges,
    aheadMsMax: 300_000,
    bodyBytesMax: 1 << 20,
  })
  t.teardown(() => importer.close())
  return async (text: string) => {
    rows.length = 0
    const { kind, ...result } = await importer.run({
      bytes: Uint8Array.from(Buffer.from(text)),
      isGzip: false,
      precision: 'ms',
      deviceDefault: undefined,
      resolve: async names => names.map(name => findDevice(name) as Series),
      fields: createResolver(asked),
    })
    const reasons = 'rejects' in result ? result.rejects.map(({ line, reason }) => `${line}: ${reason}`) : []
    const counts = 'points' in result ? [result.points, result.readings, result.rejected] : []
    return { kind, rows: [...rows], reasons, counts }
  }
}

/** Lines as bodies, with their results if unknown fields are rejected or ignored, and for each line alone. */
const lineCases: { lines: string[]; both?: object; reject?: object; ignore?: object }[] = [
  {
    lines: ['w,device=k temperature=1,co2=400i,door=T,flow=-3.5'],
    both: { reasons: [], rows: [{ values: { temperature: 1 }, custom: { 11: 400, 12: 1, 13: -3.5 } }] },
  },
  { lines: ['w,device=k flow=1u'], both: { rows: [{ values: {}, custom: { 13: 1 } }], counts: [1, 1, 0] } },
  {
    lines: ['w,device=k temperature=2,co2=-1'],
    both: { reasons: [], rows: [{ values: { temperature: 2 }, custom: {} }], counts: [1, 1, 0] },
  },
  {
    lines: ['w,device=k co2=-1', 'w,device=k humidity=5'],
    both: {
      reasons: ['1: co2 must be between 0 and 100000'],
      rows: [{ values: { humidity: 5 }, custom: {} }],
      counts: [2, 1, 1],
    },
  },
  {
    lines: ['w,device=k co2=1,flow=1', 'w,device=k co2_ppm=2', 'w,device=k humidity=3'],
    both: { rows: [{ values: { humidity: 3 }, custom: { 11: 2, 13: 1 } }], counts: [3, 1, 0] },
  },
  { lines: ['w,device=unknown co2=1'], both: { reasons: ['1: there is no device of this name'] } },
  {
    lines: ['w,device=k temperature=1,other=1,co2=400'],
    reject: { rows: [], reasons: ['1: field other is not known'], counts: [1, 0, 1] },
    ignore: { rows: [{ values: { temperature: 1 }, custom: { 11: 400 } }] },
  },
  {
    lines: ['w,device=k temperature=1,co2="text"'],
    reject: { rows: [], reasons: ['1: field co2 is a text'] },
    ignore: { rows: [{ values: { temperature: 1 }, custom: {} }] },
  },
  { lines: ['w,device=k other=1'], ignore: { kind: 'stored', rows: [], counts: [1, 0, 0] } },
  // A device that lists its metrics.
  {
    lines: ['w,device=listing temperature=1,humidity=900,co2=4,flow=1'],
    ignore: { reasons: [], rows: [{ values: { temperature: 1 }, custom: { 11: 4 } }] },
  },
  { lines: ['w,device=listing humidity=1'], ignore: { rows: [], counts: [1, 0, 0] } },
  { lines: ['w,device=listing co2=4'], ignore: { rows: [{ values: {}, custom: { 11: 4 } }] } },
  {
    lines: ['w,device=listing co2=4,humidity=1'],
    reject: { rows: [], reasons: ['1: field humidity is not known'] },
  },
]

t.test("line protocol: the device's fields are stored while others follow the setting", async t => {
  const runs = { reject: startLines(t, 'reject'), ignore: startLines(t, 'ignore') }
  for (const { lines, both, ...apart } of lineCases) {
    const body = lines.map(line => `${line} ${timeMs}\n`).join('')
    for (const setting of ['reject', 'ignore'] as const) {
      const expected = apart[setting] ?? both
      if (expected !== undefined) t.match(await runs[setting](body), expected, `${setting}: ${lines.join('; ')}`)
    }
  }
})
