/** Fifty concurrent statistics queries for fifty devices, while other devices send readings. */

import { median } from 'simple-statistics'
import { type Service, startService } from '../test/support/service.ts'
import type { Bounds } from './bounds.ts'
import { ask, type MadeDevice } from './made-fleet.ts'
import {
  assertAllTaken,
  forgetPeak,
  type Hooks,
  residentMegabytes,
  round,
  runLoad,
  sleep,
  startProcess,
  stopProcess,
} from './measure.ts'
import type { BenchService } from './service.ts'

export interface LoadPlan {
  readonly bench: BenchService
  /** One concurrent query per device. */
  readonly devices: readonly MadeDevice[]
  /** The path of a device without readings. */
  readonly silentPath: string
  /** One request per sending device. */
  readonly requests: string[]
  readonly seconds: number
}

const perSecond = 5000
const warmUpSeconds = 5
const lightPauseMs = 50
const dayMs = 86_400_000
/** Days back: for the warming up, without analyses, and with them. */
const warmUpDay = 24
const quietDay = 13
const busyDay = 2

/**
 * Compares with the same load without analyses. The service has just started, so that its worker is new. Its cache is
 * minimal, so that the memory growth belongs to the worker.
 */
export async function measureUnderLoad(hooks: Hooks, bounds: Bounds, plan: LoadPlan): Promise<void> {
  const { bench, devices, silentPath, requests, seconds } = plan
  const { service: before, environment } = bench
  await before.end('SIGTERM')
  const settings = { ...environment, CACHE_BYTES_MAX: '1MiB' }
  const service = await startService(hooks, { dataDirectory: before.dataDirectory, environment: settings })
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const port = Number(new URL(service.url).port)
  // One connection per device: on shared connections, a pending response would delay the next requests.
  const connections = requests.length
  const load = (forSeconds: number) =>
    runLoad(generator, { host: '127.0.0.1', port, connections, seconds: forSeconds, requests, perSecond })

  await ask(service, `stats_data/${silentPath}`)
  await askLightly(service, devices, warmUpDay, AbortSignal.timeout(2000))
  assertAllTaken(await load(warmUpSeconds))
  const pid = service.child.pid ?? 0
  const idle = residentMegabytes(pid).now
  forgetPeak(pid)
  for (const { path } of devices) await ask(service, `stats_data/${path}`)
  const busy = residentMegabytes(pid).peak
  bounds.atMost('memory with one busy worker, times the idle service', busy / idle, 1.5, { idle, peak: busy })

  forgetPeak(pid)
  const measure = async (day: number, analyses: (over: AbortSignal) => Promise<number[]>) => {
    await takeLoopP99Ms(service)
    const over = new AbortController()
    const [result, lightMs, statsMs] = await Promise.all([
      load(seconds).finally(() => over.abort()),
      askLightly(service, devices, day, over.signal),
      analyses(over.signal),
    ])
    assertAllTaken(result)
    return { result, lightMs, statsMs, loopMs: await takeLoopP99Ms(service) }
  }
  const quiet = await measure(quietDay, async () => [])
  const { result, lightMs, statsMs, loopMs } = await measure(busyDay, over => askInWaves(service, devices, over))

  const stats = { statsAnswers: statsMs.length, processMegabytes: residentMegabytes(pid).peak }
  const sent = { perSecond: round(result.answers / result.elapsedSeconds), p50Ms: round(result.p50Ms) }
  bounds.atMost('analyses under load: turn of the event loop, p99, times that without', loopMs / quiet.loopMs, 3, {
    p99Ms: round(loopMs),
    yardstickMs: round(quiet.loopMs),
    ...stats,
  })
  bounds.atMost(
    'analyses under load: acknowledgement, p99, times that without',
    result.p99Ms / quiet.result.p99Ms,
    10,
    {
      p99Ms: round(result.p99Ms),
      yardstickMs: round(quiet.result.p99Ms),
      maxMs: round(result.maxMs),
      ...sent,
    },
  )
  bounds.p95('analyses under load: data/day, cold, against that without', lightMs, median(quiet.lightMs), 10)
}

/** Each wave asks for a day less than the one before, so that all of it has to be computed. */
async function askInWaves(service: Service, devices: readonly MadeDevice[], over: AbortSignal): Promise<number[]> {
  const ms: number[] = []
  for (let days = 29; !over.aborted && days > 7; days--) {
    const asked = await Promise.all(devices.map(({ path }) => ask(service, `stats_data/${path}?days=${days}`)))
    ms.push(...asked.map(one => one.ms))
  }
  return ms
}

/** Days without a cached answer, one after the other. */
async function askLightly(
  service: Service,
  devices: readonly MadeDevice[],
  daysBack: number,
  over: AbortSignal,
): Promise<number[]> {
  const ms: number[] = []
  for (let turn = 0; turn === 0 || !over.aborted; turn++) {
    const { path, endMs } = devices[turn % devices.length] as MadeDevice
    const day = new Date(endMs - (daysBack + Math.floor(turn / devices.length)) * dayMs)
    ms.push((await ask(service, `data/day/${path}/${day.toISOString().slice(0, 10)}`)).ms)
    await sleep(lightPauseMs)
  }
  return ms
}

/** The p99 since the last call, from the metrics of the service. */
export async function takeLoopP99Ms({ url }: Service): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const seconds = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1]
  if (seconds === undefined) throw new Error('the metrics lack the delay of the event loop')
  return 1000 * Number(seconds)
}
