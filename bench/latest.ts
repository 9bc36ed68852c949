/**
 * `latest/all/24` from the cache against a bare Fastify route that sends the same bytes, in turns, the median of pairs.
 *
 * Usage: node bench/latest.ts [connections] [pairs] [seconds]
 */

import { once } from 'node:events'
import { median } from 'simple-statistics'
import { startBench } from './bounds.ts'
import { ratios, runLoad, sleep, spread, startProcess, stopProcess } from './measure.ts'
import { startBenchService } from './service.ts'

const connections = Number(process.argv[2] ?? 64)
const pairs = Number(process.argv[3] ?? 5)
const seconds = Number(process.argv[4] ?? 4)
const deviceCount = 50
const points = 24

const rateMin = 0.4

const { hooks, bounds, run } = startBench()
const request = 'GET /api/latest/all/24 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'

/** One reading an hour for each device. */
function history(): string {
  const lines = ['timestamp,device,temperature,humidity,pressure']
  for (let hour = 0; hour < points; hour++) {
    const time = new Date(Date.now() - (hour + 0.5) * 3_600_000).toISOString()
    for (let device = 0; device < deviceCount; device++) lines.push(`${time},logger ${device},${hour + 0.5},50,1000`)
  }
  return lines.join('\n')
}

async function bench(): Promise<void> {
  const { store, service, port } = await startBenchService(hooks, deviceCount)
  await service.import(history())
  await store.countRows(points * deviceCount)
  await sleep(1000)
  const answer = await fetch(`${service.url}/api/latest/all/24`, { headers: { 'accept-encoding': 'identity' } })
  const body = await answer.text()
  const shown = (body.match(/"d":/g) ?? []).length
  if (shown !== 2 * points * deviceCount) throw new Error(`the answer shows ${shown} points`)

  const bare = startProcess('bare-fastify.ts')
  hooks.teardown(() => stopProcess(bare))
  const [barePort] = await once(bare, 'message')
  bare.send({ body })
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const load = async (toPort: number, forSeconds: number) => {
    const order = { host: '127.0.0.1', port: toPort, connections, seconds: forSeconds, requests: [request] }
    const { answers, statuses, elapsedSeconds } = await runLoad(generator, order)
    if (statuses['200'] !== answers) throw new Error(`not all were answered: ${JSON.stringify(statuses)}`)
    return answers / elapsedSeconds
  }
  await load(port, 2)
  await load(barePort, 2)
  const ours: number[] = []
  const yardstick: number[] = []
  for (let pair = 0; pair < pairs; pair++) {
    ours.push(await load(port, seconds))
    yardstick.push(await load(barePort, seconds))
  }
  const rates = ratios(ours, yardstick)
  bounds.atLeast('answers a second, times bare Fastify', median(rates), rateMin, {
    ratios: spread(rates),
    perSecond: spread(ours),
    bareFastifyPerSecond: spread(yardstick),
  })
  bounds.conclude({ bench: 'latest', connections, pairs, seconds, bodyBytes: body.length })
}

await run(bench)
