/**
 * Memory of the service's process with many devices and a long backlog: while QuestDB is unavailable, and while the backlog is
 * drained.
 *
 * Usage: node bench/memory.ts [devices] [backlog readings]
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { silentLog, temporaryFolder } from '../test/support/databases.ts'
import { startService } from '../test/support/service.ts'
import { startBench } from './bounds.ts'
import { residentMegabytes, round, sleep } from './measure.ts'
import { writeJournal } from './rows.ts'
import { addDevices } from './service.ts'
import { startBenchStore } from './store.ts'

const deviceCount = Number(process.argv[2] ?? 100_000)
const backlog = Number(process.argv[3] ?? 10_000_000)
const peakMax = 2.5

const { hooks, bounds, run } = startBench()

async function bench(): Promise<void> {
  const store = await startBenchStore(hooks, silentLog)
  const dataDirectory = join(temporaryFolder(hooks), 'data')
  mkdirSync(join(dataDirectory, 'journal'), { recursive: true })
  writeJournal(join(dataDirectory, 'journal'), { count: backlog, deviceCount, startUs: Date.UTC(2025, 0, 1) * 1000 })
  const setUp = await startService(hooks, { environment: store.environment })
  await addDevices(setUp, deviceCount)
  await setUp.end('SIGTERM')
  const quiet = await startService(hooks, { dataDirectory: setUp.dataDirectory, environment: store.environment })
  await sleep(5000)
  const idle = residentMegabytes(quiet.child.pid ?? 0).now
  await quiet.end('SIGTERM')

  process.kill(store.questdbPid, 'SIGSTOP')
  const service = await startService(hooks, { dataDirectory, environment: store.environment })
  const pid = service.child.pid ?? 0
  await sleep(5000)
  const away = residentMegabytes(pid)
  process.kill(store.questdbPid, 'SIGCONT')
  const startedMs = performance.now()
  const stored = await store.countRows(backlog)
  const drainSeconds = (performance.now() - startedMs) / 1000
  const drained = residentMegabytes(pid)
  bounds.must('the whole backlog is stored', stored === backlog)
  bounds.atMost('peak memory, times the idle service', drained.peak / idle, peakMax, {
    idleMegabytes: idle,
    awayMegabytes: away.now,
    drainedMegabytes: drained.now,
    peakMegabytes: drained.peak,
  })
  const asked = { devices: deviceCount, backlog }
  bounds.conclude({ bench: 'memory', ...asked, drainSeconds: round(drainSeconds), stored })
}

await run(bench)
