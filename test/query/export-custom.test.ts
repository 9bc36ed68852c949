/** Exports with values without a column: each with its reading, figures by the kind of metric, and increases of buckets. */

import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import pg from 'pg'
import t, { type Test } from 'tap'
import { bucketIncreases, counterIncrease, increaseAt } from '../../analytics/counter/counter-increase.ts'
import { lowerBound } from '../../analytics/lower-bound.ts'
import type { Samples } from '../../analytics/present.ts'
import type { Layout } from '../../query/export/export-queries.ts'
import { createReadingsExport, type ExportRequest } from '../../query/export/readings-export.ts'
import { builtInMetrics, type ExportMetric, noSeries, seriesTable } from '../../query/export/series-table.ts'
import { createReplicas } from '../../query/replicas.ts'
import { expiringMeasurements } from '../../service/lifecycle/retention/expiring-tables.ts'
import { silentLog } from '../support/databases.ts'
import { startQuestdb } from '../support/questdb.ts'
import { runs } from '../support/runs.ts'
import { keptHoursOf } from './kept-hours.ts'
import { makeDevice, stays } from './query-at.ts'

const questdb = await startQuestdb(t)
const startMs = Date.UTC(2026, 4, 1)
const devices = ['porch', 'attic', 'cellar'].map(name => makeDevice(name))
const numbers = devices.map(({ number }) => number)
const unhurried = { timeoutMs: 600_000, connectTimeoutMs: 600_000 }

async function bodyOf(layout: Layout, asked: Partial<ExportRequest>, pieceRows = 60_000): Promise<Buffer> {
  const limits = { ...unhurried, pieceRows }
  const readingsExport = createReadingsExport({
    replicas: createReplicas([{ address: questdb.address }]),
    log: silentLog,
    limits,
  })
  const range = { fromUs: 0, toUs: Date.UTC(2027, 0) * 1000, devices, isNarrowed: false }
  const answer = await readingsExport.pieces({ layout, ...range, ...asked }, stays())
  if (!answer.ok) throw new Error(answer.code)
  const body = await buffer(answer.pieces as AsyncIterable<never>)
  await readingsExport.close()
  return body
}

const linesOf = async (...asked: Parameters<typeof bodyOf>) =>
  (await bodyOf(...asked)).toString().split(/\r?\n/).slice(0, -1)

const timeOf = (second: number) => new Date(startMs + second * 1000).toISOString().replace('Z', '000Z')
const gauges = (...names: string[]): ExportMetric[] => names.map(name => ({ name, kind: 'gauge' }))
const metrics = [...gauges('co2'), ...builtInMetrics, ...gauges('lux', 'never')]
const [co2, lux, never] = [0, 6, 7]
const [porch = 0, attic = 0] = numbers
const series = seriesTable([31, porch, lux, 12, porch, co2, 7, attic, co2, noSeries, attic, never])
const seriesOf = [{ co2: 12, lux: 31 }, { co2: 7, lux: undefined }, {}]

const made = fc.record(
  {
    // There are few times, so that several devices share one.
    second: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 86_400 })),
    device: fc.constantFrom(0, 1, 2),
    temperature: fc.integer({ min: -90, max: 85 }),
    co2: fc.double({ min: -1e3, max: 1e5, noNaN: true }).map(value => value + 0),
    lux: fc.integer({ min: 0, max: 10 }),
  },
  { requiredKeys: ['second', 'device'] },
)
type Made = { second: number; device: number; temperature?: number; co2?: number; lux?: number }

/** Metrics that a device does not have are left out. */
async function write(made: readonly Made[]): Promise<Made[]> {
  await questdb.clear()
  const byKey = new Map(made.map(each => [`${each.second}/${each.device}`, each]))
  const readings = [...byKey.values()].sort((a, b) => a.second - b.second || a.device - b.device)
  const kept = readings.map(({ co2, lux, ...reading }) => ({
    ...reading,
    ...(co2 === undefined || seriesOf[reading.device]?.co2 === undefined ? {} : { co2 }),
    ...(lux === undefined || seriesOf[reading.device]?.lux === undefined ? {} : { lux }),
  }))
  if (kept.length === 0) return kept
  await questdb.write(
    kept.map(({ second, device, temperature }) => ({
      time: timeOf(second),
      symbol: devices[device]?.symbol ?? '',
      ...(temperature === undefined ? {} : { temperature }),
    })),
  )
  // A missing value is a row with null, as after a replaced reading. Rows of other devices are stored too.
  await questdb.writeCustom(
    kept.flatMap(({ second, device, co2 = null, lux = null }) => {
      const { co2: ofCo2, lux: ofLux } = { co2: undefined, lux: undefined, ...seriesOf[device] }
      const time = timeOf(second)
      return [
        { series: 99, time, value: 5 },
        ...(ofCo2 === undefined ? [] : [{ series: ofCo2, time, value: co2 }]),
        ...(ofLux === undefined ? [] : [{ series: ofLux, time, value: lux }]),
      ]
    }),
  )
  return kept
}

t.test('each value comes with its reading, in the column of its metric, whatever the size of a piece', async t => {
  const property = fc.asyncProperty(
    fc.array(made, { maxLength: 40, size: 'max' }),
    fc.integer({ min: 1, max: 80 }),
    async (rows, pieceRows) => {
      const readings = await write(rows as Made[])
      const [header, ...lines] = await linesOf('csv', { metrics, series }, pieceRows)
      t.equal(header, `timestamp,device,${metrics.map(({ name }) => name).join()}`)
      const cells = readings.map(({ second, device, ...values }) => [
        timeOf(second),
        devices[device]?.name,
        ...metrics.map(({ name }) => (values as Record<string, number>)[name] ?? ''),
      ])
      t.strictSame(lines.join('\n'), cells.join('\n'))
      const columns = `cast(timestamp AS LONG), device, ${metrics.map(({ name }) => name).join()}`
      const file = await questdb.readParquet(await bodyOf('parquet', { metrics, series }, pieceRows), columns)
      const rowsInFile = cells.map(([time, ...row]) => {
        return [`${Date.parse(String(time)) * 1000}`, ...row.map(cell => (cell === '' ? null : cell))]
      })
      t.strictSame(file, rowsInFile)
    },
  )
  await fc.assert(property, runs(4, 12))
})

t.test('an import returns null where the device has a metric that the reading lacks', async t => {
  await write([
    { second: 0, device: 0, co2: 400.5 },
    { second: 0, device: 1 },
    { second: 1, device: 2, temperature: 7 },
  ])
  const required = { temperature: null, humidity: null, pressure: null }
  t.strictSame(
    (await linesOf('ndjson', { metrics, series })).map(line => JSON.parse(line)),
    [
      { timestamp: timeOf(0), device: 'porch', co2: 400.5, ...required, lux: null },
      { timestamp: timeOf(0), device: 'attic', co2: null, ...required, never: null },
      { timestamp: timeOf(1), device: 'cellar', ...required, temperature: 7 },
    ],
  )
  const ofPorch = { devices: devices.slice(0, 1), isNarrowed: true }
  const chosen = { metrics: metrics.slice(0, 2), series: seriesTable([12, porch, 0]), ...ofPorch }
  t.strictSame(JSON.parse((await bodyOf('array', chosen)).toString()), [{ ts: startMs, co2: 400.5 }])
})

const kindsByName = { rain: 'rate', energy: 'counter', wind: 'direction', door: 'state' } as const
const others = Object.entries(kindsByName).map(([name, kind]) => ({ name, kind }))
const kinds: ExportMetric[] = [...gauges('temperature', 'co2'), ...others]

t.test('buckets have the figures that are right for the kind of a metric', async t => {
  await questdb.clear()
  const rows: [number, Record<string, number>][] = [
    [-60, { energy: 90 }],
    [0, { co2: 400, rain: 1.5, energy: 100, wind: 350, door: 1 }],
    [60, { co2: 500, rain: 0.5, energy: 130, wind: 10 }],
    [3500, { door: 0, energy: 5 }],
    [3600, { energy: 7, wind: 90 }],
    [3660, { wind: 270 }],
    [7200, {}],
  ]
  const symbol = devices[0]?.symbol ?? ''
  await questdb.write(rows.map(([second]) => ({ time: timeOf(second), symbol, temperature: 20 })))
  await questdb.writeCustom(
    rows.flatMap(([second, values]) =>
      kinds.flatMap(({ name }, series) => {
        const value = values[name]
        return value === undefined ? [] : [{ series: series + 100, time: timeOf(second), value }]
      }),
    ),
  )
  const asked = {
    metrics: kinds,
    series: seriesTable(kinds.flatMap((_, place) => (place === 0 ? [] : [place + 100, porch, place]))),
    devices: devices.slice(0, 1),
    isNarrowed: true,
    stepUs: 3_600_000_000,
    fromUs: startMs * 1000,
    toUs: (startMs + 3 * 3_600_000) * 1000,
  }
  const gauge = (name: string, count: number, mean: number, min: number, max: number) => {
    return { [`${name}_count`]: count, [`${name}_mean`]: mean, [`${name}_min`]: min, [`${name}_max`]: max }
  }
  const temperature = (count: number) => gauge('temperature', count, 20, 20, 20)
  for (const pieceRows of [1, 2, 1000]) {
    t.strictSame(JSON.parse((await bodyOf('array', asked, pieceRows)).toString()), [
      {
        ts: startMs,
        ...temperature(3),
        ...gauge('co2', 2, 450, 400, 500),
        ...{ rain_count: 2, rain_sum: 2, rain_min: 0.5, rain_max: 1.5 },
        ...{ energy_count: 3, energy_increase: 45, energy_last: 5 },
        ...{ wind_count: 2, wind_mean: 0, door_count: 2, door_last: 0, door_min: 0, door_max: 1 },
      },
      // Winds that cancel out have no mean.
      {
        ...{ ts: startMs + 3_600_000, ...temperature(2) },
        ...{ energy_count: 1, energy_increase: 2, energy_last: 7, wind_count: 2 },
      },
      { ts: startMs + 7_200_000, ...temperature(1) },
    ])
  }
  const [header] = await linesOf('rfc4180', asked)
  t.equal(header?.split(',').length, 2 + 4 + 4 + 4 + 3 + 2 + 4)
})

const device = makeDevice('meter')
const firstSeries = 101
const textOfMs = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z')

interface Row {
  ts: number
  [increase: `${string}_increase`]: number | undefined
}

async function increases(
  fromMs: number,
  toMs: number,
  stepMs: number,
  counters: ReadonlyMap<string, number>,
): Promise<Row[]> {
  const limits = { timeoutMs: 600_000, connectTimeoutMs: 600_000, pieceRows: 1000 }
  const readingsExport = createReadingsExport({
    replicas: createReplicas([{ address: questdb.address }]),
    log: silentLog,
    limits,
  })
  const asked = {
    metrics: [...counters.keys()].map(name => ({ name, kind: 'counter' as const })),
    series: seriesTable([...counters.values()].flatMap((number, metric) => [number, device.number, metric])),
    devices: [device],
    isNarrowed: true,
  }
  const range = { fromUs: fromMs * 1000, toUs: toMs * 1000, stepUs: stepMs * 1000 }
  const answer = await readingsExport.pieces({ layout: 'array', ...asked, ...range }, stays())
  if (!answer.ok) throw new Error(answer.code)
  const rows = JSON.parse((await buffer(answer.pieces as AsyncIterable<never>)).toString())
  await readingsExport.close()
  return rows
}

const sumOf = (rows: readonly { increase: number | null }[]) =>
  rows.reduce((sum, { increase }) => sum + (increase ?? 0), 0)

function ofPairs({ timesMs, values }: Samples, startMs: number, stepMs: number): number {
  let sum = 0
  const until = lowerBound(timesMs, startMs + stepMs)
  for (let at = Math.max(1, lowerBound(timesMs, startMs)); at < until; at++)
    sum += increaseAt([...values.subarray(Math.max(0, at - 2), at + 1)])
  return sum
}

/** The analyses divide sums the same way, resets included. */
function dividedSum(samples: Samples, stepMs: number): number {
  const { timesMs } = samples
  const firstMs = Math.floor((timesMs[0] as number) / stepMs) * stepMs
  const length = Math.floor(((timesMs.at(-1) as number) - firstMs) / stepMs) + 1
  const buckets = Array.from({ length }, (_, at) => ({
    startMs: firstMs + at * stepMs,
    endMs: firstMs + (at + 1) * stepMs,
  }))
  const divided = bucketIncreases(samples, buckets, [{ fromMs: Number.NEGATIVE_INFINITY, gapMs: 1_200_000 }])
  return sumOf(divided.buckets) + sumOf(divided.unplaced)
}

/** Totals that grow, fall by all sorts of shares, and are zero or a rounding error lower now and then. */
const totals = fc
  .tuple(
    fc.double({ min: 1, max: 1000, noNaN: true }),
    fc.array(
      fc.oneof(
        fc.constantFrom(0, 1, 0.9, 0.9001, 0.95, 0.999, 1 - 1e-14, 0.5, 1.0001, 1.1),
        fc.double({ min: 0.01, max: 1.2, noNaN: true }),
      ),
      { minLength: 1, maxLength: 40 },
    ),
    fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 40, maxLength: 40 }),
  )
  .map(([first, shares, minutes]) => {
    const values = [first]
    let high = first
    for (const share of shares) {
      values.push(high * share)
      // Often it goes on from where it was.
      if (share > 1 || values.length % 3 === 0) high = Math.max(1, values.at(-1) as number)
    }
    let timeMs = Date.UTC(2026, 4, 1, 0, 20)
    const timesMs = values.map((_, index) => {
      timeMs += (minutes[index % minutes.length] as number) * 60_000
      return timeMs
    })
    return { timesMs: Float64Array.from(timesMs), values: Float64Array.from(values) }
  })

const seed = 20_261_128
const counterSeries = fc.sample(totals, { seed, numRuns: 30 })
const numberOf = (index: number) => firstSeries + index
const isAlike = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b))

async function storeAll(): Promise<void> {
  await questdb.clear()
  const times = [...new Set(counterSeries.flatMap(({ timesMs }) => [...timesMs]))].sort((a, b) => a - b)
  await questdb.write(times.map(time => ({ time: textOfMs(time), symbol: device.symbol, temperature: 20 })))
  const rows = counterSeries.flatMap(({ timesMs, values }, index) =>
    Array.from(timesMs, (time, at) => ({ series: numberOf(index), time: textOfMs(time), value: values[at] as number })),
  )
  await questdb.writeCustom(rows)
}

function assertAlike(
  t: Test,
  rows: readonly Row[],
  name: `${string}_increase`,
  samples: Samples,
  stepMs: number,
): void {
  const whole = counterIncrease(samples).increase as number
  const sum = rows.reduce((sum, row) => sum + (row[name] ?? 0), 0)
  if (!isAlike(sum, whole)) t.fail(`${name} by ${stepMs}: ${sum}, not ${whole} of ${samples.values}`)
  if (!isAlike(dividedSum(samples, stepMs), whole)) t.fail(`${name} by ${stepMs}, divided: ${samples.values}`)
  for (const row of rows) {
    const own = ofPairs(samples, row.ts, stepMs)
    if (!isAlike(row[name] ?? 0, own)) t.fail(`${name} at ${row.ts}: ${row[name]}, not ${own} of ${samples.values}`)
  }
}

t.test(
  `each bucket has the increases whose later value it holds, with the sum of the analyses (seed ${seed})`,
  async t => {
    await storeAll()
    const startMs = Date.UTC(2026, 4, 1)
    const endMs = startMs + 2 * 86_400_000
    const counters = new Map(counterSeries.map((_, index) => [`total_${index}`, numberOf(index)]))
    for (const stepMs of [60_000, 3_600_000, 86_400_000]) {
      const rows = await increases(startMs, endMs, stepMs, counters)
      for (const [index, samples] of counterSeries.entries())
        assertAlike(t, rows, `total_${index}_increase`, samples, stepMs)
    }
    t.pass(`${counterSeries.length} totals by the minute, hour and day`)
  },
)

t.test(`expired hours keep the increase of their values (seed ${seed})`, async t => {
  await storeAll()
  const client = new pg.Client({ ...questdb.address.pg, ssl: false })
  await client.connect()
  const startMs = Date.UTC(2026, 4, 1)
  const hourMs = 3_600_000
  // Some hours are the first one of a range.
  for (const rangeMs of [48 * hourMs, 6 * hourMs]) {
    const rows: { series: number; ts: number; increase: number }[] = []
    for (let fromMs = startMs; fromMs < startMs + 48 * hourMs; fromMs += rangeMs) {
      const range = { fromMs, toMs: fromMs + rangeMs }
      rows.push(...(await client.query(expiringMeasurements.hoursSql(range))).rows)
    }
    for (const [index, samples] of counterSeries.entries()) {
      const own = rows.filter(row => Number(row.series) === numberOf(index)).sort((a, b) => a.ts - b.ts)
      const expected = keptHoursOf(samples)
      t.equal(own.length, expected.startsMs.length)
      for (const [hour, increase] of expected.columns.increase.entries()) {
        if (!isAlike(own[hour]?.increase ?? Number.NaN, increase))
          t.fail(`hour ${hour} of ${index}: ${own[hour]?.increase}, not ${increase} of ${samples.values}`)
      }
    }
    t.pass(`${rows.length} hours`)
  }
  await client.end()
})
