/**
 * Latency of acknowledgements at 10, 50 and 90 % of peak load, measured from the scheduled send time, against a bare
 * Fastify route that parses the same JSON, at the same rates, in turns.
 *
 * Usage: node bench/latency.ts [connections] [seconds] [runs]
 */

import { once } from 'node:events'
import { median } from 'simple-statistics'
import { startBench } from './bounds.ts'
import type { LoadResult } from './load-generator.ts'
import { assertAllTaken, ratios, round, runLoad, spread, startProcess, stopProcess } from './measure.ts'
import { startBenchService } from './service.ts'

const connections = Number(process.argv[2] ?? 64)
const seconds = Number(process.argv[3] ?? 6)
const runs = Number(process.argv[4] ?? 5)
const shares = [0.1, 0.5, 0.9]
const shareBounded = 0.5
const p99Max = 10

const { hooks, bounds, run } = startBench()

async function bench(): Promise<void> {
  const { store, port, requests } = await startBenchService(hooks, 1000)
  const bare = startProcess('bare-fastify.ts')
  hooks.teardown(() => stopProcess(bare))
  const [barePort] = await once(bare, 'message')
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const loadAt = (toPort: number, forSeconds: number, perSecond?: number) => {
    const order = { host: '127.0.0.1', port: toPort, connections, seconds: forSeconds, requests }
    return runLoad(generator, perSecond === undefined ? order : { ...order, perSecond })
  }
  let acknowledged = 0
  const load = async (forSeconds: number, perSecond?: number) => {
    const result = await loadAt(port, forSeconds, perSecond)
    assertAllTaken(result)
    acknowledged += result.answers
    return result
  }
  await load(3)
  await loadAt(barePort, 3)
  const closed = await load(seconds)
  const peak = closed.answers / closed.elapsedSeconds
  const measured = shares.map(share => ({ share, ours: [] as LoadResult[], bare: [] as LoadResult[] }))
  for (let run = 0; run < runs; run++) {
    for (const { share, ours, bare } of measured) {
      ours.push(await load(seconds, peak * share))
      bare.push(await loadAt(barePort, seconds, peak * share))
    }
  }
  const stored = await store.countRows(acknowledged)
  bounds.must('all that were acknowledged are stored', stored === acknowledged)
  const rows = measured.map(one => rowOf(one.ours, one.bare, peak * one.share))
  measured.forEach(({ share, ours, bare }, index) => {
    if (share !== shareBounded) return
    bounds.atMost(
      'p99 at half of the peak, times bare Fastify',
      median(ratios(p99s(ours), p99s(bare))),
      p99Max,
      rows[index],
    )
  })
  const asked = { connections, seconds, runs, peakPerSecond: round(peak) }
  const byShare = Object.fromEntries(shares.map((share, index) => [`${share * 100} %`, rows[index]]))
  bounds.conclude({ bench: 'latency', ...asked, shares: byShare, acknowledged, stored })
}

const p99s = (results: readonly LoadResult[]) => results.map(({ p99Ms }) => p99Ms)

function rowOf(ours: readonly LoadResult[], bare: readonly LoadResult[], perSecond: number) {
  return {
    perSecond: round(perSecond),
    p50Ms: spread(ours.map(({ p50Ms }) => p50Ms)),
    p99Ms: spread(p99s(ours)),
    bareFastifyP99Ms: spread(p99s(bare)),
  }
}

await run(bench)
