/**
 * Durable single readings by `PUT /api/log` against a bare Fastify route that only parses the same JSON: in turns, the
 * median of the pairs. Then the rows in QuestDB are counted: every acknowledged one must be there.
 *
 * Usage: node bench/put.ts [connections] [pairs] [seconds]
 */

import { once } from 'node:events'
import {
  assertAllTaken,
  createHooks,
  hardware,
  median,
  printResult,
  round,
  runLoad,
  spread,
  startProcess,
  stopProcess,
} from './measure.ts'
import { startBenchService } from './service.ts'

const connections = Number(process.argv[2] ?? 64)
const pairs = Number(process.argv[3] ?? 5)
const seconds = Number(process.argv[4] ?? 4)
const deviceCount = 1000
/** At more connections than this the bound says nothing: each waits for its turn. */
const connectionsBounded = 64
const p99MsMax = 50

const { hooks, closeAll } = createHooks()

async function bench(): Promise<void> {
  const { store, port, requests } = await startBenchService(hooks, deviceCount)
  const bare = startProcess('bare-fastify.ts')
  hooks.teardown(() => stopProcess(bare))
  const [barePort] = await once(bare, 'message')
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const load = (toPort: number, forSeconds: number) =>
    runLoad(generator, { host: '127.0.0.1', port: toPort, connections, seconds: forSeconds, requests })

  let acknowledged = 0
  const measure = async (forSeconds: number) => {
    const result = await load(port, forSeconds)
    assertAllTaken(result)
    acknowledged += result.answers
    return result
  }
  await measure(2)
  await load(barePort, 2)
  const ours: number[] = []
  const yardstick: number[] = []
  const p99s: number[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const result = await measure(seconds)
    ours.push(result.answers / result.elapsedSeconds)
    p99s.push(result.p99Ms)
    const bareResult = await load(barePort, seconds)
    yardstick.push(bareResult.answers / bareResult.elapsedSeconds)
  }
  const stored = await store.countRows(acknowledged)
  const ratios = ours.map((rate, pair) => rate / (yardstick[pair] ?? Number.NaN))
  printResult({
    bench: 'put',
    connections,
    pairs,
    seconds,
    ratio: spread(ratios),
    perSecond: spread(ours),
    bareFastifyPerSecond: spread(yardstick),
    p99Ms: spread(p99s),
    acknowledged,
    stored,
    hardware: hardware(),
  })
  if (stored !== acknowledged) throw new Error(`${acknowledged} were acknowledged and ${stored} are stored`)
  if (connections <= connectionsBounded && median(p99s) > p99MsMax) {
    throw new Error(`the p99 is ${round(median(p99s))} ms`)
  }
}

try {
  await bench()
} finally {
  await closeAll()
}
