/**
 * Durable single readings by `PUT /api/log` against a bare Fastify route that only parses the same JSON: in turns, the
 * median of the pairs. Then the rows in QuestDB are counted: every acknowledged one must be there.
 *
 * Usage: node bench/put.ts [connections] [pairs] [seconds]
 */

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '../test/support/databases.ts'
import { startService } from '../test/support/service.ts'
import { hardware, median, printResult, round, runLoad, spread, startProcess, stopProcess } from './measure.ts'
import { startBenchStore } from './store.ts'

const connections = Number(process.argv[2] ?? 64)
const pairs = Number(process.argv[3] ?? 5)
const seconds = Number(process.argv[4] ?? 4)
const deviceCount = 1000
/** At more connections than this the bound says nothing: each waits for its turn. */
const connectionsBounded = 64
const p99MsMax = 50

const closers: (() => unknown)[] = []
const hooks = { teardown: (work: () => unknown) => void closers.unshift(work) }

function requestOf(name: string, password: string): string {
  const temperature = 15 + (name.length % 7) / 10
  const body = JSON.stringify({ device: name, temperature, humidity: 51.5, pressure: 1013.25 })
  return [
    'PUT /api/log HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
}

async function bench(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'barograph-bench-'))
  closers.push(() => rmSync(folder, { recursive: true, force: true }))
  const store = await startBenchStore(hooks, silentLog)
  const service = await startService(hooks, {
    environment: { ...store.environment, DEVICE_RATE: '1000000' },
  })
  const names = Array.from({ length: deviceCount }, (_, index) => `logger ${index}`)
  const { body } = await service.admin(
    'POST',
    '/devices',
    names.map(name => ({ name })),
  )
  const made = body as { device: string; password: string }[]
  const requests = made.map(({ device, password }) => requestOf(device, password))

  const bare = startProcess('bare-fastify.ts')
  hooks.teardown(() => stopProcess(bare))
  const [barePort] = await once(bare, 'message')
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const load = (port: number, forSeconds: number) =>
    runLoad(generator, { host: '127.0.0.1', port, connections, seconds: forSeconds, requests })

  const port = Number(new URL(service.url).port)
  let acknowledged = 0
  const measure = async (forSeconds: number) => {
    const result = await load(port, forSeconds)
    acknowledged += result.statuses['200'] ?? 0
    if (result.statuses['200'] !== result.answers)
      throw new Error(`not all were taken: ${JSON.stringify(result.statuses)}`)
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
  if (connections <= connectionsBounded && median(p99s) > p99MsMax)
    throw new Error(`the p99 is ${round(median(p99s))} ms`)
}

try {
  await bench()
} finally {
  for (const close of closers) await close()
}
