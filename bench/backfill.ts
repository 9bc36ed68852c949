/**
 * Live readings at a steady rate during a backlog of bulk bodies, against the same live load alone, and a backlog
 * scattered over many days. The latency of a live reading counts from its due time.
 *
 * Usage: node bench/backfill.ts [--rows 5000000] [--rate 2000] [--seconds 20] [--connections 4] [--days 60]
 */

import { parseArgs } from 'node:util'
import { startBench } from './bounds.ts'
import { addKeys, bodiesOf, postAll } from './bulk-load.ts'
import { bulkFormats } from './ingest-formats.ts'
import { assertAllTaken, round, runLoad, startProcess, stopProcess } from './measure.ts'
import { startBenchService } from './service.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '5000000' },
    rate: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '20' },
    connections: { type: 'string', default: '4' },
    days: { type: 'string', default: '60' },
  },
})
const rows = Number(options.rows)
const rate = Number(options.rate)
const seconds = Number(options.seconds)
const deviceCount = 1000
const liveConnections = 64
const linesPerBody = 10_000
const dayMs = 86_400_000
const p99Max = 5

const { hooks, bounds, run } = startBench()

async function bench(): Promise<void> {
  const { store, port, environment, requests } = await startBenchService(hooks, deviceCount)
  const keys = await addKeys(environment['DATABASE_URL'] ?? '', Number(options.connections))
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const order = { host: '127.0.0.1', port, connections: liveConnections, requests, perSecond: rate }
  const live = async (forSeconds: number) => {
    const result = await runLoad(generator, { ...order, seconds: forSeconds })
    assertAllTaken(result)
    return result
  }
  const { path, contentType, status, body } = bulkFormats['csv'] as (typeof bulkFormats)[string]
  const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': contentType })
  const target = { connections: keys.map(key => ({ port, path, headers: headersOf(key) })), status }
  const endMs = Math.floor(Date.now() / dayMs) * dayMs
  const plan = { devices: deviceCount, seed: 1, endMs, startMs: endMs - Number(options.days) * dayMs }
  const bodies = bodiesOf({ ...plan, rows, order: 'scattered' }, linesPerBody, body)

  const warmUp = await live(5)
  const alone = await live(seconds)
  let isOver = false
  const startedMs = performance.now()
  const backfill = postAll(target, bodies).then(() => {
    isOver = true
    return performance.now()
  })
  const rounds: Awaited<ReturnType<typeof live>>[] = []
  while (!isOver) rounds.push(await live(5))
  const acknowledgedMs = (await backfill) - startedMs
  const answers = [warmUp, alone, ...rounds].reduce((sum, result) => sum + result.answers, 0)
  const stored = await store.countRows(rows + answers)
  const shownMs = performance.now() - startedMs
  const p99Ms = Math.max(...rounds.map(result => result.p99Ms))
  bounds.must('all that were acknowledged are stored, once', stored === rows + answers)
  bounds.atMost('p99 of live readings beside the backlog, times alone', p99Ms / alone.p99Ms, p99Max, {
    p99Ms: round(p99Ms),
    aloneP99Ms: round(alone.p99Ms),
    p50Ms: rounds.map(result => round(result.p50Ms)),
  })
  const perSecond = (ms: number) => round((rows * 1000) / ms)
  bounds.conclude({
    bench: 'backfill',
    rows,
    days: Number(options.days),
    livePerSecond: rate,
    acknowledgedPerSecond: perSecond(acknowledgedMs),
    shownPerSecond: perSecond(shownMs),
    stored,
  })
}

await run(bench)
