/** Exports with values that have no column in the table of readings: each with its reading, and figures by the kind of its metric. */

import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import t from 'tap'
import { builtInMetrics, type ExportMetric } from '../../query/export/export-columns.ts'
import type { Layout } from '../../query/export/export-queries.ts'
import { createReadingsExport, type ExportRequest } from '../../query/export/readings-export.ts'
import { noSeries, seriesTable } from '../../query/export/series-table.ts'
import { createReplicas } from '../../query/replicas.ts'
import { silentLog } from '../support/databases.ts'
import { startQuestdb } from '../support/questdb.ts'
import { runs } from '../support/runs.ts'
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
/** Of porch and attic; cellar has none. */
const metrics = [...gauges('co2'), ...builtInMetrics, ...gauges('lux', 'never')]
const [co2, lux, never] = [0, 6, 7]
const [porch = 0, attic = 0] = numbers
const series = seriesTable([31, porch, lux, 12, porch, co2, 7, attic, co2, noSeries, attic, never])
const seriesOf = [{ co2: 12, lux: 31 }, { co2: 7, lux: undefined }, {}]

const made = fc.record(
  {
    // Few times, so that several devices share one.
    second: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 86_400 })),
    device: fc.constantFrom(0, 1, 2),
    temperature: fc.integer({ min: -90, max: 85 }),
    co2: fc.double({ min: -1e3, max: 1e5, noNaN: true }).map(value => value + 0),
    lux: fc.integer({ min: 0, max: 10 }),
  },
  { requiredKeys: ['second', 'device'] },
)
type Made = { second: number; device: number; temperature?: number; co2?: number; lux?: number }

/** Without what their devices do not have. */
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
  // A missing one is a row without a value, as behind a replaced reading; and there are those of other devices.
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

t.test('an import finds null where a device has a metric and a reading none of it', async t => {
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
        // Since the value before the range; then it has started again.
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
