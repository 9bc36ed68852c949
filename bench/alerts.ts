/**
 * Alerts: their cost for senders, and the delay of notifications. Readings by `PUT /api/log` and by line protocol, with
 * three rules per device and without, in turns. Then the time from an acknowledgement that crosses a threshold to the
 * webhook's request, under load. Last, a fleet that falls silent at once.
 *
 * Usage: node bench/alerts.ts [devices] [pairs] [seconds] [crossings]
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, quantile } from 'simple-statistics'
import { bounds as limits } from '../alerts/core/bounds.ts'
import { startReceiver } from '../test/support/alert-receiver.ts'
import type { Service } from '../test/support/service.ts'
import { waitFor } from '../test/support/wait-for.ts'
import { startBench } from './bounds.ts'
import { addKeys, bulkTargetOf, postAll } from './bulk-load.ts'
import type { SentReading } from './fleet.ts'
import { bulkFormats, linesOf } from './ingest-formats.ts'
import { assertAllTaken, ratios, runLoad, sleep, spread, startProcess, stopProcess } from './measure.ts'
import { type BenchService, deviceName, startBenchService } from './service.ts'
import { silenceFleet } from './silent-fleet.ts'

const deviceCount = Number(process.argv[2] ?? 100_000)
const pairs = Number(process.argv[3] ?? 5)
const seconds = Number(process.argv[4] ?? 4)
const crossings = Number(process.argv[5] ?? 300)
const connections = 64
const rowsPerTurn = 200_000
const rowsPerBody = 5000
const rateMin = 0.95
const perSecond = 2000
const silentSecondsMax = 5
const notifiedMsMax = limits.groupWaitMs + 1000

const { hooks, bounds, run } = startBench()

async function ask(service: Service, method: string, path: string, body?: unknown): Promise<{ id: number }> {
  const token = readFileSync(join(service.dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`${service.url}/api${path}`, { method, headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

async function pairsCovered({ url }: Service): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^barograph_alert_pairs (\d+)$/m.exec(text)?.[1])
}

/** These rules never fire. */
const rules = [
  { name: 'silent', condition: { kind: 'silent', after_seconds: 86_400 } },
  { name: 'hot', condition: { kind: 'above', metric: 'temperature', value: 1000, hysteresis: 1 } },
  { name: 'dry', condition: { kind: 'below', metric: 'humidity', value: -1, hysteresis: 1 } },
]

async function measureRates({ service, port, requests, environment }: BenchService): Promise<void> {
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const keys = await addKeys(String(environment['DATABASE_URL']), 2)
  const target = bulkTargetOf(port, keys, bulkFormats['line-protocol'] as (typeof bulkFormats)[string])

  async function put(): Promise<number> {
    const result = await runLoad(generator, { host: '127.0.0.1', port, connections, seconds, requests })
    assertAllTaken(result)
    return result.answers / result.elapsedSeconds
  }
  async function lines(): Promise<number> {
    const bodies = bodiesNow()
    const startedMs = performance.now()
    await postAll(target, bodies)
    return (rowsPerTurn * 1000) / (performance.now() - startedMs)
  }

  const ids: number[] = []
  for (const rule of rules) {
    const { id } = await ask(service, 'POST', '/alert-rules', { ...rule, selector: { all: true }, enabled: false })
    ids.push(id)
  }
  async function turn(enabled: boolean): Promise<{ put: number; lines: number }> {
    for (const id of ids) await ask(service, 'PATCH', `/alert-rules/${id}`, { enabled })
    const covered = enabled ? rules.length * deviceCount : 0
    await waitFor('rules cover the devices', async () => (await pairsCovered(service)) === covered)
    await sleep(2000)
    return { put: await put(), lines: await lines() }
  }
  await put()
  await lines()
  const without: { put: number; lines: number }[] = []
  const withRules: { put: number; lines: number }[] = []
  for (let pair = 0; pair < pairs; pair++) {
    without.push(await turn(false))
    withRules.push(await turn(true))
  }
  for (const [way, name] of [
    ['put', 'PUT'],
    ['lines', 'line protocol'],
  ] as const) {
    const [ours, yardstick] = [withRules, without].map(turns => turns.map(turn => turn[way]))
    const of = ratios(ours ?? [], yardstick ?? [])
    bounds.atLeast(`${name} with ${rules.length} rules a device, times without`, median(of), rateMin, {
      ratios: spread(of),
      perSecond: spread(ours ?? []),
      withoutPerSecond: spread(yardstick ?? []),
    })
  }
}

/** Devices take turns. No timestamp is ahead of the clock, as later readings would then be late. */
function bodiesNow(): Buffer[] {
  const nowMs = Date.now()
  const values = { temperature: 21.5, humidity: 51.5, pressure: 1013.25 }
  const readings: SentReading[] = Array.from({ length: rowsPerTurn }, (_, index) => {
    const timeMs = nowMs - Math.ceil((rowsPerTurn - index) / deviceCount)
    return { device: deviceName(index % deviceCount), timeMs, values }
  })
  return Array.from({ length: Math.ceil(rowsPerTurn / rowsPerBody) }, (_, at) =>
    Buffer.from(linesOf(readings.slice(at * rowsPerBody, (at + 1) * rowsPerBody))),
  )
}

/** Each crossing is of a rule of its own, and so a notification of its own. */
async function measureNotified({ service, port, requests }: BenchService): Promise<void> {
  const receiver = await startReceiver(hooks, '127.0.0.1', receiverPort)
  const receivedMs = new Map<string, number>()
  receiver.answer = (response, { body }) => {
    receivedMs.set(JSON.parse(body).data.rule.name, performance.now())
    response.writeHead(204).end()
  }
  const settings = { url: `${receiver.origin}/hook` }
  const channel = await ask(service, 'POST', '/alert-channels', { name: 'receiver', kind: 'webhook', settings })
  const condition = { kind: 'above', metric: 'temperature', value: 60, hysteresis: 1 }
  for (let index = 0; index < crossings; index++) {
    const selector = { devices: [deviceName(index)] }
    await ask(service, 'POST', '/alert-rules', { name: deviceName(index), selector, condition, channels: [channel.id] })
  }
  await waitFor('rules cover their devices', async () => {
    return (await pairsCovered(service)) === rules.length * deviceCount + crossings
  })
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const others = requests.slice(crossings)
  const forSeconds = 15 + limits.groupWaitMs / 1000
  const load = runLoad(generator, {
    host: '127.0.0.1',
    port,
    connections,
    seconds: forSeconds,
    requests: others,
    perSecond,
  })
  const acknowledgedMs: number[] = []
  for (let index = 0; index < crossings; index++) {
    acknowledgedMs.push(await putHot(service.url, requests[index] ?? ''))
    await sleep(10_000 / crossings)
  }
  assertAllTaken(await load)
  await waitFor('all are notified', () => receivedMs.size === crossings)
  const waits = acknowledgedMs.map((ms, index) => (receivedMs.get(deviceName(index)) ?? Number.NaN) - ms)
  bounds.must('each crossing is notified once', receiver.received.length === crossings)
  bounds.atMost(
    'p99 from the acknowledgement to the webhook, times the group wait + 1 s',
    quantile(waits, 0.99) / notifiedMsMax,
    1,
    {
      waitedMs: spread(waits),
      readingsPerSecond: perSecond,
    },
  )
}

/** Sends the prepared request of a device, with a temperature beyond the threshold. Returns the time of its acknowledgement. */
async function putHot(url: string, request: string): Promise<number> {
  const authorization = /authorization: (.*)\r/.exec(request)?.[1] ?? ''
  const body = JSON.stringify({ ...JSON.parse(request.slice(request.indexOf('\r\n\r\n'))), temperature: 70 })
  const headers = { authorization, 'content-type': 'application/json' }
  const response = await fetch(`${url}/api/log`, { method: 'PUT', headers, body })
  if (response.status !== 200) throw new Error(`not taken: ${response.status} ${await response.text()}`)
  await response.text()
  return performance.now()
}

async function measureSilence(): Promise<void> {
  const { seconds: passed, notifications, counted } = await silenceFleet(hooks, deviceCount)
  bounds.atMost(`${deviceCount} devices silent at once, times ${silentSecondsMax} s`, passed / silentSecondsMax, 1, {
    seconds: passed,
  })
  bounds.must('they are one notification', notifications === 1 && counted === deviceCount)
}

/** The service gets this port before the receiver listens, so the port must be free. */
const receiverPort = 20_000 + (process.pid % 20_000)

await run(async () => {
  await measureSilence()
  const settings = { ALERT_TARGETS_ALLOWED: `http://127.0.0.1:${receiverPort}` }
  const bench = await startBenchService(hooks, deviceCount, settings)
  await measureRates(bench)
  await measureNotified(bench)
  bounds.conclude({ bench: 'alerts', devices: deviceCount, pairs, seconds, crossings })
})
