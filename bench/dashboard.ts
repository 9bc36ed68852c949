/**
 * The pages' requests and their cost: `/api/fleet` with 1,000 and 100,000 devices, and with 40 custom metrics each,
 * against a Fastify route that sends the same bytes. A month of minutes by `/api/readings` as CSV against QuestDB's
 * export. Single readings with and without clients of `/api/events`. The first paint in Chromium against a page of the
 * same size without script. Runs alternate. Figures are medians of pairs.
 *
 * Usage: node bench/dashboard.ts [--only fleet,readings,events,paint] [--pairs 5] [--seconds 3]
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { median } from 'simple-statistics'
import type { FleetDevice } from '../query/live/fleet-shape.ts'
import { type Bounds, createBounds } from './bounds.ts'
import { measureFirstPaint } from './dashboard-paint.ts'
import type { EventOrder } from './event-clients.ts'
import { startMadeFleet } from './made-fleet.ts'
import {
  assertAllTaken,
  createHooks,
  type Hooks,
  ratios,
  runLoad,
  spread,
  startProcess,
  stopProcess,
} from './measure.ts'
import { type BenchService, deviceName, startBenchService } from './service.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'fleet,readings,events,paint' },
    pairs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
  },
})
const pairs = Number(options.pairs)
const seconds = Number(options.seconds)
const connections = 64
const pageRows = 200
const eventClients = 200
const exportDays = 30
/** Values of a device in an answer of the fleet, and how many of those that are measured here are built in. */
const shownMax = 6
const builtInCount = 4
const minuteMs = 60_000

const bounds = createBounds()

/** The rates of two loads in turns. The first turn of each only warms up. */
async function inTurns(ours: () => Promise<number>, yardstick: () => Promise<number>) {
  await ours()
  await yardstick()
  const rates: { ours: number[]; yardstick: number[] } = { ours: [], yardstick: [] }
  for (let pair = 0; pair < pairs; pair++) {
    rates.ours.push(await ours())
    rates.yardstick.push(await yardstick())
  }
  return rates
}

function note(name: string, bound: number, rates: { ours: number[]; yardstick: number[] }, more: object = {}): void {
  const each = ratios(rates.ours, rates.yardstick)
  const perSecond = { perSecond: spread(rates.ours), yardstickPerSecond: spread(rates.yardstick) }
  bounds.atLeast(name, median(each), bound, { ratios: spread(each), ...perSecond, ...more })
}

/** A reading of each device, a minute old, with so many values of metrics beside the built-in ones. */
async function fill({ service, store }: BenchService, deviceCount: number, customCount: number): Promise<void> {
  const time = new Date(Date.now() - minuteMs).toISOString()
  const custom = Array.from({ length: customCount }, (_, place) => `,bench_${place}`)
  const lines = [`timestamp,device,temperature,humidity,pressure,battery_percentage${custom.join('')}`]
  const values = custom.map((_, place) => `,${place + 0.5}`).join('')
  for (let device = 0; device < deviceCount; device++) {
    const row = `${time},${deviceName(device)},${15 + (device % 200) / 10},${40 + (device % 300) / 10},1013.2,87`
    lines.push(`${row}${values}`)
  }
  await service.import(lines.join('\n'))
  if ((await store.countRows(deviceCount)) !== deviceCount) throw new Error('not all readings are visible')
}

function startGenerator(hooks: Hooks): ChildProcess {
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  return generator
}

async function startBare(hooks: Hooks, body: string): Promise<number> {
  const bare = startProcess('bare-fastify.ts')
  hooks.teardown(() => stopProcess(bare))
  const [port] = await once(bare, 'message')
  bare.send({ body })
  return port
}

async function measureFleet(hooks: Hooks, deviceCount: number, customCount: number): Promise<void> {
  const started = await startBenchService(hooks, deviceCount)
  await fill(started, deviceCount, customCount)
  const path = `/api/fleet?limit=${pageRows}`
  const response = await fetch(`${started.service.url}${path}`, { headers: { 'accept-encoding': 'identity' } })
  const body = await response.text()
  const { devices, counts } = JSON.parse(body) as { devices: FleetDevice[]; counts: Record<string, number> }
  const fleet = `${deviceCount} devices${customCount === 0 ? '' : ` with ${customCount} custom metrics`}`
  bounds.must(`${fleet}: the page and the counts are whole`, isWhole(devices, counts, deviceCount))
  const shown = Math.min(shownMax, builtInCount + customCount)
  bounds.must(
    `${fleet}: each has ${shown} values`,
    devices.every(({ values }) => Object.keys(values).length === shown),
  )
  const barePort = await startBare(hooks, body)
  const generator = startGenerator(hooks)
  const load = (port: number, target: string) => async () => {
    const request = `GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`
    const result = await runLoad(generator, { host: '127.0.0.1', port, connections, seconds, requests: [request] })
    assertAllTaken(result)
    return result.answers / result.elapsedSeconds
  }
  const rates = await inTurns(load(started.port, path), load(barePort, '/api/latest/all/24'))
  note(`/api/fleet, ${pageRows} of ${fleet}, times bare Fastify`, 0.8, rates, { bodyBytes: body.length })
}

function isWhole(devices: readonly FleetDevice[], counts: Record<string, number>, deviceCount: number): boolean {
  const counted = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return devices.length === Math.min(pageRows, deviceCount) && counted === deviceCount
}

async function measureReadings(hooks: Hooks): Promise<void> {
  const kind = { count: 4, days: exportDays + 1, stepMs: minuteMs }
  const { service, store, made } = await startMadeFleet(hooks, [kind], 0, {})
  const [devices = []] = made
  const endMs = Math.floor(Date.now() / minuteMs - 30) * minuteMs
  const [start, end] = [endMs - exportDays * 24 * 60 * minuteMs, endMs]
  let turn = 0
  const linesOf = async (url: string, headers: Record<string, string>) => {
    const startedMs = performance.now()
    const response = await fetch(url, { headers: { ...headers, 'accept-encoding': 'identity' } })
    const text = await response.text()
    const elapsedMs = performance.now() - startedMs
    if (response.status !== 200) throw new Error(`${url} returned ${response.status}: ${text}`)
    return { rows: text.trimEnd().split('\n').length - 1, elapsedMs }
  }
  const counts = devices.map(() => new Set<number>())
  const perSecond = (read: (place: number) => ReturnType<typeof linesOf>) => async () => {
    const place = Math.floor(turn++ / 2) % devices.length
    const { rows, elapsedMs } = await read(place)
    counts[place]?.add(rows)
    return (rows / elapsedMs) * 1000
  }
  const ours = perSecond(place =>
    linesOf(`${service.url}/api/readings/${devices[place]?.path}?start=${start}&end=${end}&format=csv`, {}),
  )
  const { http } = store.questdb
  const exported = perSecond(place => {
    const sql =
      `SELECT * FROM readings WHERE device = '${devices[place]?.device.symbol}' ` +
      `AND ts >= ${start * 1000} AND ts < ${end * 1000}`
    const url = `http://${http.host}:${http.port}/exp?query=${encodeURIComponent(sql)}`
    return linesOf(url, { authorization: http.authorization ?? '' })
  })
  const rates = await inTurns(ours, exported)
  const isSame = counts.every(ofDevice => ofDevice.size <= 1 && !ofDevice.has(0))
  bounds.must('both answers have the same number of rows', isSame)
  note('/api/readings, a month of minutes as CSV, times QuestDB alone', 0.7, rates)
}

/** `paths`: the requests of the clients. */
async function withClients(port: number, paths: string[], work: () => Promise<number>) {
  const clients = fork(new URL('./event-clients.ts', import.meta.url))
  try {
    clients.send({ port, paths } satisfies EventOrder)
    await once(clients, 'message')
    const result = await work()
    clients.send('stop')
    const [received] = await once(clients, 'message')
    return { result, received: Number(received) }
  } finally {
    await stopProcess(clients)
  }
}

async function measureEvents(hooks: Hooks): Promise<void> {
  const deviceCount = 1000
  const { store, port, requests } = await startBenchService(hooks, deviceCount, {
    EVENTS_CLIENTS_PER_ADDRESS: String(eventClients),
  })
  const generator = startGenerator(hooks)
  let acknowledged = 0
  const load = async () => {
    const result = await runLoad(generator, { host: '127.0.0.1', port, connections, seconds, requests })
    assertAllTaken(result)
    acknowledged += result.answers
    return result.answers / result.elapsedSeconds
  }
  const ofOne = Array.from({ length: eventClients }, (_, client) => {
    return `/api/events?device=${encodeURIComponent(deviceName(client))}`
  })
  const ofAll = Array.from({ length: eventClients }, () => '/api/events')
  for (const [name, paths] of [
    ['of a device each', ofOne],
    ['of the whole fleet', ofAll],
  ] as const) {
    let received = 0
    const beside = async () => {
      const run = await withClients(port, paths, load)
      received += run.received
      return run.result
    }
    const rates = await inTurns(beside, load)
    bounds.must(`the clients ${name} were sent readings`, received > 0)
    note(`readings a second beside ${eventClients} clients ${name}, times without`, 0.85, rates, { received })
  }
  bounds.must('all that were acknowledged are stored', (await store.countRows(acknowledged)) === acknowledged)
}

const parts: Record<string, (hooks: Hooks, bounds: Bounds) => Promise<void>> = {
  async fleet(hooks) {
    for (const deviceCount of [1000, 100_000]) await measureFleet(hooks, deviceCount, 0)
    await measureFleet(hooks, 1000, 40)
  },
  readings: measureReadings,
  events: measureEvents,
  paint: measureFirstPaint,
}

for (const name of options.only.split(',')) {
  const part = parts[name]
  if (part === undefined) throw new Error(`there is no part ${name}; there are ${Object.keys(parts).join(', ')}`)
  const { hooks, closeAll } = createHooks()
  try {
    await part(hooks, bounds)
  } finally {
    await closeAll()
  }
}
bounds.conclude({ bench: 'dashboard', pairs, seconds })
