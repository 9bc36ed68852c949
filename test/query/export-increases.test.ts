/** Increases of buckets of an export, beside those of the analyses: what they have in common. */

import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import pg from 'pg'
import t, { type Test } from 'tap'
import { bucketIncreases } from '../../analytics/counter/bucket-increases.ts'
import { counterIncrease, increaseAt } from '../../analytics/counter/counter-increase.ts'
import { lowerBound } from '../../analytics/lower-bound.ts'
import type { Samples } from '../../analytics/present.ts'
import { createReadingsExport } from '../../query/export/readings-export.ts'
import { seriesTable } from '../../query/export/series-table.ts'
import { createReplicas } from '../../query/replicas.ts'
import { expiringMeasurements } from '../../service/lifecycle/retention/expiring-tables.ts'
import { silentLog } from '../support/databases.ts'
import { startQuestdb } from '../support/questdb.ts'
import { keptHoursOf } from './kept-hours.ts'
import { makeDevice, stays } from './query-at.ts'

const questdb = await startQuestdb(t)
const device = makeDevice('meter')
const firstSeries = 101
const timeOf = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z')

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

/** Of the samples in the bucket. */
function ofPairs({ timesMs, values }: Samples, startMs: number, stepMs: number): number {
  let sum = 0
  const until = lowerBound(timesMs, startMs + stepMs)
  for (let at = Math.max(1, lowerBound(timesMs, startMs)); at < until; at++)
    sum += increaseAt([...values.subarray(Math.max(0, at - 2), at + 1)])
  return sum
}

/** As the analyses have them, those told apart included. */
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
const series = fc.sample(totals, { seed, numRuns: 30 })
const numberOf = (index: number) => firstSeries + index
const isAlike = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b))

async function storeAll(): Promise<void> {
  await questdb.clear()
  const times = [...new Set(series.flatMap(({ timesMs }) => [...timesMs]))].sort((a, b) => a - b)
  await questdb.write(times.map(time => ({ time: timeOf(time), symbol: device.symbol, temperature: 20 })))
  const rows = series.flatMap(({ timesMs, values }, index) =>
    Array.from(timesMs, (time, at) => ({ series: numberOf(index), time: timeOf(time), value: values[at] as number })),
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
  `each bucket has the increase of the pairs whose later value it holds, and all have that of the analyses (seed ${seed})`,
  async t => {
    await storeAll()
    const startMs = Date.UTC(2026, 4, 1)
    const endMs = startMs + 2 * 86_400_000
    const counters = new Map(series.map((_, index) => [`total_${index}`, numberOf(index)]))
    for (const stepMs of [60_000, 3_600_000, 86_400_000]) {
      const rows = await increases(startMs, endMs, stepMs, counters)
      for (const [index, samples] of series.entries()) assertAlike(t, rows, `total_${index}_increase`, samples, stepMs)
    }
    t.pass(`${series.length} totals by the minute, hour and day`)
  },
)

t.test(`what is kept of expired hours has the increase of the values (seed ${seed})`, async t => {
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
    for (const [index, samples] of series.entries()) {
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
