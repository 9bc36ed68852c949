/**
 * `stats_data` of devices with 15 metrics, ten of them gauges without a column, against devices with the five: 30 days
 * of one reading a minute, in turns, each device once, uncached. Means and counts are compared with QuestDB's own.
 *
 * Usage: node bench/custom-metrics.ts [--pairs 7]
 */

import { parseArgs } from 'node:util'
import { median } from 'simple-statistics'
import type { AnalysedDevice } from '../query/analysed-device.ts'
import type { CustomMetric } from '../query/custom-metric.ts'
import { createQuery } from '../query/query.ts'
import { createReplicas } from '../query/replicas.ts'
import { measurementsTable, metrics, readingsTable } from '../store/tables.ts'
import { silentLog } from '../test/support/databases.ts'
import { plainDevice } from '../test/support/plain-device.ts'
import { questdbRows } from '../test/support/questdb-rows.ts'
import { startBench } from './bounds.ts'
import { ratios, spread } from './measure.ts'
import { type BenchStore, startBenchStore, untilApplied } from './store.ts'

const { values: options } = parseArgs({ options: { pairs: { type: 'string', default: '7' } } })
const pairs = Number(options.pairs)
/** The first turns let the compiler find hot code. */
const warmUps = 2
const readings = 30 * 1440
const customCount = 10
const ratioMax = 3.5
const startUs = Date.UTC(2026, 0, 1) * 1000
const stepUs = 60_000_000
const tolerance = 1e-9

const { hooks, bounds, run } = startBench()

/** A day's course and noise, in steps of a tenth. */
function valueSql(phase: number): string {
  return `round(20 + 5 * sin(x / 1440.0 * 6.283185307179586 + ${phase}) + rnd_double(), 1)`
}

async function seed(store: BenchStore, device: AnalysedDevice, custom: readonly CustomMetric[]): Promise<void> {
  const times = `timestamp_sequence(${startUs}L::timestamp, ${stepUs}L)`
  const columns = metrics.map((_, place) => valueSql(place)).join(', ')
  const rows = `FROM long_sequence(${readings})`
  const insert = (sql: string) => questdbRows({ questdb: { address: store.questdb } }, sql)
  await insert(`INSERT INTO ${readingsTable} SELECT ${times}, '${device.symbol}', ${columns} ${rows}`)
  for (const [place, { series }] of custom.entries()) {
    const values = valueSql(metrics.length + place)
    await insert(`INSERT INTO ${measurementsTable} SELECT ${times}, ${series}, ${values} ${rows}`)
  }
}

function deviceOf(number: number): AnalysedDevice {
  const name = `bench-${number}`
  return { ...plainDevice, number, symbol: name, name, expected_interval_seconds: 60 }
}

function gauge(device: AnalysedDevice, place: number): CustomMetric {
  const name = `gauge_${place}`
  const about = { title: name, kind: 'gauge', unit: null, decimals: 1, quality: null } as const
  return { name, ...about, series: device.number * customCount + place, column: undefined, speed: undefined }
}

interface Stats {
  aggregates: Record<string, { count: number; mean: number }>
  correlations: { pairs: unknown[] }
}

/** True if the answer has QuestDB's count and mean of each metric. */
async function isRight(store: BenchStore, stats: Stats, custom: readonly CustomMetric[]): Promise<boolean> {
  const quantities = metrics.length + 1 + custom.length
  if (stats.correlations.pairs.length !== (quantities * (quantities - 1)) / 2) return false
  for (const { name, series } of custom) {
    const [row] = await store.query(
      `SELECT count(value), avg(value) FROM ${measurementsTable} WHERE series = ${series}`,
    )
    const { count, mean } = stats.aggregates[name] ?? { count: 0, mean: Number.NaN }
    if (count !== Number(row?.[0]) || !(Math.abs(mean - Number(row?.[1])) <= tolerance)) return false
  }
  return true
}

async function bench(): Promise<void> {
  const store = await startBenchStore(hooks, silentLog)
  const lastMs = (startUs + (readings - 1) * stepUs) / 1000
  const query = createQuery({
    replicas: createReplicas([{ address: store.questdb }]),
    timeZone: 'UTC',
    now: () => lastMs + 30_000,
    revision: () => 0,
    log: silentLog,
    // The limit only ends a hang, also on a slow machine.
    limits: { timeoutMs: 600_000 },
  })
  hooks.teardown(() => query.close())
  const made = Array.from({ length: 2 * (warmUps + pairs) }, (_, place) => {
    const device = deviceOf(place + 1)
    return { device, custom: Array.from({ length: (place % 2) * customCount }, (_, one) => gauge(device, one)) }
  })
  for (const { device, custom } of made) await seed(store, device, custom)
  await untilApplied(store.questdb)
  const ms: [few: number[], many: number[]] = [[], []]
  let right = true
  for (const [place, { device, custom }] of made.entries()) {
    const startedMs = performance.now()
    const how = { days: 30, stepSeconds: undefined, custom }
    const answer = await query.stats(device, how, new AbortController().signal)
    const tookMs = performance.now() - startedMs
    if (!answer.ok) throw new Error(`there is no answer: ${answer.code}`)
    right &&= await isRight(store, JSON.parse(answer.body.bytes.toString()), custom)
    if (place >= 2 * warmUps) ms[place % 2]?.push(tookMs)
  }
  const [few, many] = ms
  bounds.must('counts, means and pairs are right', right)
  bounds.atMost('15 metrics against five', median(ratios(many, few)), ratioMax, {
    ms: spread(many),
    fiveMs: spread(few),
  })
  bounds.conclude({ bench: 'custom-metrics', readings, pairs })
}

await run(bench)
