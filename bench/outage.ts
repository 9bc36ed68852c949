/**
 * QuestDB is away for a while and readings keep coming: how long until the backlog is applied while live readings flow on.
 * By default a twentieth of ten minutes, with the same ratio of outage to drain.
 *
 * Usage: node bench/outage.ts [outage seconds] [readings a second]
 */

import { createHooks, hardware, printResult, round, runLoad, sleep, startProcess, stopProcess } from './measure.ts'
import { startBenchService } from './service.ts'

const outageSeconds = Number(process.argv[2] ?? 30)
const perSecond = Number(process.argv[3] ?? 5000)
const drainShareMax = 2 / 10
const settleSeconds = 5

const { hooks, closeAll } = createHooks()

async function bench(): Promise<void> {
  const { store, service, port, requests } = await startBenchService(hooks, 1000)
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const lag = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    return Number(/^barograph_lag_readings (\d+)$/m.exec(text)?.[1])
  }
  const seconds = outageSeconds * (1 + drainShareMax) + 2 * settleSeconds
  const loading = runLoad(generator, { host: '127.0.0.1', port, connections: 64, seconds, requests, perSecond })
  await sleep(settleSeconds * 1000)
  process.kill(store.questdbPid, 'SIGSTOP')
  await sleep(outageSeconds * 1000)
  const backlog = await lag()
  process.kill(store.questdbPid, 'SIGCONT')
  const resumedMs = performance.now()
  // Under live traffic something is always on its way; a second of it is no backlog.
  while ((await lag()) > perSecond) await sleep(50)
  const drainSeconds = (performance.now() - resumedMs) / 1000
  const result = await loading
  const acknowledged = result.statuses['200'] ?? 0
  const stored = await store.countRows(acknowledged)
  printResult({
    bench: 'outage',
    outageSeconds,
    perSecond: round(result.answers / result.elapsedSeconds),
    backlog,
    drainSeconds: round(drainSeconds),
    drainShare: round(drainSeconds / outageSeconds),
    p99Ms: round(result.p99Ms),
    acknowledged,
    refused: result.answers - acknowledged,
    stored,
    hardware: hardware(),
  })
  if (stored !== acknowledged) throw new Error(`${acknowledged} were acknowledged and ${stored} are stored`)
  if (drainSeconds > outageSeconds * drainShareMax) throw new Error(`the drain took ${round(drainSeconds)} s`)
}

try {
  await bench()
} finally {
  await closeAll()
}
