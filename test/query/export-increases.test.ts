/** Increases of buckets of an export, beside those of the analyses and of Prometheus: what they have in common. */

import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { bucketIncreases } from '../../analytics/counter/bucket-increases.ts'
import { counterIncrease, stepIncrease } from '../../analytics/counter/counter-increase.ts'
import { lowerBound, upperBound } from '../../analytics/lower-bound.ts'
import type { Samples } from '../../analytics/present.ts'
import { createReadingsExport } from '../../query/export/readings-export.ts'
import { seriesTable } from '../../query/export/series-table.ts'
import { readFixture } from '../analytics/fixture.ts'
import { silentLog } from '../support/databases.ts'
import { startQuestdb } from '../support/questdb.ts'
import { makeDevice, stays } from './query-at.ts'

interface PrometheusSeries {
  times: number[]
  values: number[]
  windows: { start: number; end: number; increase: number | null }[]
}

const questdb = await startQuestdb(t)
const device = makeDevice('meter')
const numberOfSeries = 100
const timeOf = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z')

interface Row {
  ts: number
  energy_increase?: number
}

async function increases(fromMs: number, toMs: number, stepMs: number): Promise<Row[]> {
  const limits = { timeoutMs: 600_000, connectTimeoutMs: 600_000, pieceRows: 1000 }
  const readingsExport = createReadingsExport({ shards: [questdb.address], log: silentLog, limits })
  const asked = {
    metrics: [{ name: 'energy', kind: 'counter' as const }],
    series: seriesTable([numberOfSeries, device.number, 0]),
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

async function store({ timesMs, values }: Samples): Promise<void> {
  await questdb.clear()
  const times = Array.from(timesMs, timeOf)
  await questdb.write(times.map(time => ({ time, symbol: device.symbol, temperature: 20 })))
  await questdb.writeFurther(times.map((time, at) => ({ series: numberOfSeries, time, value: values[at] as number })))
}

const isNear = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b))
const sumOf = (rows: readonly { increase: number | null }[]) =>
  rows.reduce((sum, { increase }) => sum + (increase ?? 0), 0)

function insideOf({ timesMs, values }: Samples, { start, end }: { start: number; end: number }): Samples {
  const from = upperBound(timesMs, start)
  const to = Math.max(from, upperBound(timesMs, end))
  return { timesMs: timesMs.subarray(from, to), values: values.subarray(from, to) }
}

/** Of the pairs whose later sample is in the bucket. */
function ofPairs({ timesMs, values }: Samples, startMs: number, stepMs: number): number {
  let sum = 0
  const until = lowerBound(timesMs, startMs + stepMs)
  for (let at = Math.max(1, lowerBound(timesMs, startMs)); at < until; at++)
    sum += stepIncrease(values[at - 1] as number, values[at] as number)
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

const fixture = Object.entries(readFixture<Record<string, PrometheusSeries>>('counter-prometheus'))

for (const [name, { times, values, windows }] of fixture) {
  t.test(`${name}: each is of the pairs whose later value the bucket holds, and they add up as elsewhere`, async t => {
    const samples = { timesMs: Float64Array.from(times), values: Float64Array.from(values) }
    await store(samples)
    for (const window of windows.slice(0, 6)) {
      const inside = insideOf(samples, window)
      t.equal(window.increase === null, inside.timesMs.length < 2)
      const [first, last] = [inside.timesMs[0], inside.timesMs.at(-1)]
      if (first === undefined || last === undefined) continue
      // What Prometheus extrapolates.
      const whole = counterIncrease(inside).increase ?? 0
      for (const stepMs of [60_000, 600_000, 86_400_000]) {
        const where = `(${window.start}, ${window.end}] by ${stepMs}`
        // Behind the first sample, which is the one before.
        const rows = await increases(first + 1, last + 1, stepMs)
        const sum = sumOf(rows.map(({ energy_increase: increase = null }) => ({ increase })))
        t.ok(isNear(sum, whole), `${where}: ${sum}, not ${whole}`)
        t.ok(isNear(sum, dividedSum(inside, stepMs)), `${where}: as the analyses`)
        for (const { ts, energy_increase = 0 } of rows)
          t.ok(isNear(energy_increase, ofPairs(inside, ts, stepMs)), `${where}: ${ts}`)
      }
    }
  })
}

t.test('an interval over an edge counts for the later bucket, where the analyses divide it by time', async t => {
  const startMs = Date.UTC(2026, 4, 1)
  const samples = { timesMs: Float64Array.of(startMs + 3_000_000, startMs + 4_200_000), values: Float64Array.of(5, 17) }
  await store(samples)
  const found = await increases(startMs, startMs + 7_200_000, 3_600_000)
  t.strictSame(
    found.map(({ energy_increase }) => energy_increase),
    [undefined, 12],
  )
  const hours = [0, 1].map(hour => ({ startMs: startMs + hour * 3_600_000, endMs: startMs + (hour + 1) * 3_600_000 }))
  const { buckets } = bucketIncreases(samples, hours, [{ fromMs: 0, gapMs: 3_600_000 }])
  t.strictSame(
    buckets.map(({ increase }) => increase),
    [6, 6],
  )
})
