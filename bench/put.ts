/**
 * Durable single readings by `PUT /api/log` against a bare Fastify route that only parses the same JSON, and readings
 * with and without ten custom values: in turns, the median of the pairs. Then it verifies that QuestDB has every
 * acknowledged row and custom value.
 *
 * Usage: node bench/put.ts [connections] [pairs] [seconds]
 */

import { once } from 'node:events'
import { median } from 'simple-statistics'
import { measurementsTable } from '../store/tables.ts'
import { startBench } from './bounds.ts'
import { assertAllTaken, ratios, runLoad, spread, startProcess, stopProcess } from './measure.ts'
import { startBenchService } from './service.ts'
import { untilApplied } from './store.ts'

const connections = Number(process.argv[2] ?? 64)
const pairs = Number(process.argv[3] ?? 5)
const seconds = Number(process.argv[4] ?? 4)
const deviceCount = 1000
const rateMin = 0.2
const p99Max = 10
const customCount = 10
const customRateMin = 0.6

const { hooks, bounds, run } = startBench()

async function bench(): Promise<void> {
  const { store, port, requests, customRequests } = await startBenchService(hooks, deviceCount)
  const withCustom = customRequests(customCount)
  const bare = startProcess('bare-fastify.ts')
  hooks.teardown(() => stopProcess(bare))
  const [barePort] = await once(bare, 'message')
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const load = (toPort: number, forSeconds: number, sent = requests) =>
    runLoad(generator, { host: '127.0.0.1', port: toPort, connections, seconds: forSeconds, requests: sent })

  let acknowledged = 0
  const measure = async (forSeconds: number, sent = requests) => {
    const result = await load(port, forSeconds, sent)
    assertAllTaken(result)
    acknowledged += result.answers
    return result
  }
  let custom = 0
  const measureCustom = async (forSeconds: number) => {
    const { answers, elapsedSeconds } = await measure(forSeconds, withCustom)
    custom += answers
    return answers / elapsedSeconds
  }
  await measure(2)
  await load(barePort, 2)
  // Every device has its metrics after that.
  await measureCustom(4)
  const ours: number[] = []
  const customRates: number[] = []
  const yardstick: number[] = []
  const p99s: number[] = []
  const bareP99s: number[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const result = await measure(seconds)
    ours.push(result.answers / result.elapsedSeconds)
    p99s.push(result.p99Ms)
    customRates.push(await measureCustom(seconds))
    const bareResult = await load(barePort, seconds)
    yardstick.push(bareResult.answers / bareResult.elapsedSeconds)
    bareP99s.push(bareResult.p99Ms)
  }
  const stored = await store.countRows(acknowledged)
  await untilApplied(store.questdb)
  const [values] = await store.query(`SELECT count(value) FROM ${measurementsTable}`)
  const rates = ratios(ours, yardstick)
  const ofCustom = ratios(customRates, ours)
  bounds.must('all that were acknowledged are stored', stored === acknowledged)
  bounds.must('all custom values are stored', Number(values?.[0]) === custom * customCount)
  bounds.atLeast('readings a second, times bare Fastify', median(rates), rateMin, {
    ratios: spread(rates),
    perSecond: spread(ours),
    bareFastifyPerSecond: spread(yardstick),
  })
  bounds.atLeast(`with ${customCount} custom values, times without`, median(ofCustom), customRateMin, {
    ratios: spread(ofCustom),
    perSecond: spread(customRates),
  })
  bounds.atMost('p99, times bare Fastify', median(ratios(p99s, bareP99s)), p99Max, {
    p99Ms: spread(p99s),
    bareFastifyP99Ms: spread(bareP99s),
  })
  bounds.conclude({ bench: 'put', connections, pairs, seconds, acknowledged, stored })
}

await run(bench)
