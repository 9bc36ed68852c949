/**
 * How long an acknowledgement takes at 10, 50 and 90 % of the peak, counted from the moment at which a reading was due.
 *
 * Usage: node bench/latency.ts [connections] [seconds] [runs]
 */

import type { LoadResult } from './load-generator.ts'
import {
  assertAllTaken,
  createHooks,
  hardware,
  printResult,
  round,
  runLoad,
  spread,
  startProcess,
  stopProcess,
} from './measure.ts'
import { startBenchService } from './service.ts'

const connections = Number(process.argv[2] ?? 64)
const seconds = Number(process.argv[3] ?? 6)
const runs = Number(process.argv[4] ?? 5)
const p99MsMaxAtHalf = 15

const { hooks, closeAll } = createHooks()

async function bench(): Promise<void> {
  const { store, port, requests } = await startBenchService(hooks, 1000)
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  let acknowledged = 0
  const load = async (forSeconds: number, perSecond?: number) => {
    const order = { host: '127.0.0.1', port, connections, seconds: forSeconds, requests }
    const result = await runLoad(generator, perSecond === undefined ? order : { ...order, perSecond })
    assertAllTaken(result)
    acknowledged += result.answers
    return result
  }
  await load(3)
  const closed = await load(seconds)
  const peak = closed.answers / closed.elapsedSeconds
  const results = new Map<number, LoadResult[]>([0.1, 0.5, 0.9].map(share => [share, []]))
  for (let run = 0; run < runs; run++) {
    for (const [share, list] of results) list.push(await load(seconds, peak * share))
  }
  const shares = Object.fromEntries(
    [...results].map(([share, list]) => [
      `${share * 100} %`,
      {
        perSecond: round(peak * share),
        p50Ms: spread(list.map(({ p50Ms }) => p50Ms)),
        p99Ms: spread(list.map(({ p99Ms }) => p99Ms)),
      },
    ]),
  )
  const p99AtHalf = spread((results.get(0.5) ?? []).map(({ p99Ms }) => p99Ms)).median
  const stored = await store.countRows(acknowledged)
  printResult({
    bench: 'latency',
    connections,
    seconds,
    runs,
    peakPerSecond: round(peak),
    shares,
    acknowledged,
    stored,
    hardware: hardware(),
  })
  if (stored !== acknowledged) throw new Error(`${acknowledged} were acknowledged and ${stored} are stored`)
  if (p99AtHalf > p99MsMaxAtHalf) throw new Error(`the p99 at half of the peak is ${round(p99AtHalf)} ms`)
}

try {
  await bench()
} finally {
  await closeAll()
}
