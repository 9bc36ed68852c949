/**
 * Time to drain the backlog after an outage of QuestDB, while live readings continue.
 * By default a twentieth of ten minutes, with the same ratio of outage to drain, and 0.3 of the peak rate of the
 * machine.
 *
 * Usage: node bench/outage.ts [outage seconds] [readings a second]
 */

import { startBench } from './bounds.ts'
import { round, runLoad, sleep, startProcess, stopProcess } from './measure.ts'
import { startBenchService } from './service.ts'

const outageSeconds = Number(process.argv[2] ?? 30)
const shareOfPeak = 0.3
const drainShareMax = 2 / 10
const settleSeconds = 5

const { hooks, bounds, run } = startBench()

async function bench(): Promise<void> {
  const { store, service, port, requests } = await startBenchService(hooks, 1000)
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const load = (seconds: number, rate?: number) => {
    const order = { host: '127.0.0.1', port, connections: 64, seconds, requests }
    return runLoad(generator, rate === undefined ? order : { ...order, perSecond: rate })
  }
  const peak = await load(settleSeconds)
  const warmedUp = peak.statuses['200'] ?? 0
  const perSecond = Number(process.argv[3] ?? shareOfPeak * (peak.answers / peak.elapsedSeconds))
  const lag = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    return Number(/^barograph_lag_readings (\d+)$/m.exec(text)?.[1])
  }
  const seconds = outageSeconds * (1 + drainShareMax) + 2 * settleSeconds
  const loading = load(seconds, perSecond)
  await sleep(settleSeconds * 1000)
  process.kill(store.questdbPid, 'SIGSTOP')
  await sleep(outageSeconds * 1000)
  const backlog = await lag()
  process.kill(store.questdbPid, 'SIGCONT')
  const resumedMs = performance.now()
  // Live traffic always has some rows in flight: a second's worth is not a backlog.
  while ((await lag()) > perSecond) await sleep(50)
  const drainSeconds = (performance.now() - resumedMs) / 1000
  const result = await loading
  const acknowledged = result.statuses['200'] ?? 0
  const stored = await store.countRows(acknowledged + warmedUp)
  bounds.must('all that were acknowledged are stored', stored === acknowledged + warmedUp)
  bounds.must('none is refused', acknowledged === result.answers)
  bounds.atMost('drain, times the outage', drainSeconds / outageSeconds, drainShareMax, {
    drainSeconds: round(drainSeconds),
    backlog,
    p99Ms: round(result.p99Ms),
  })
  const asked = { outageSeconds, perSecond: round(perSecond) }
  bounds.conclude({ bench: 'outage', ...asked, acknowledged, stored })
}

await run(bench)
