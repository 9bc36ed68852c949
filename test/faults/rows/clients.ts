/** Rows 18, 24 and 25: clients that are rude, idle in great number, or ahead of the answers. */

import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/processes.ts'
import { openRaw, type RawConnection } from '../../support/raw-connection.ts'
import { eachCycle, type TestBed } from '../experiment.ts'
import { type LedgerWriter, openLedger } from '../ledger.ts'
import type { Login } from '../loads.ts'
import { fieldsOf, putRequest } from '../requests.ts'
import { complainOfSilence } from './questdb.ts'

/** Numbers of attempts far behind those of the load. */
const rudeFrom = 500_000_000
const pipelinedFrom = 600_000_000

const openLedgerOf = ({ folder }: TestBed): LedgerWriter => openLedger(join(folder, 'ledger'))
const putOf = ({ name, password }: Login, sequence: number): string =>
  putRequest(name, password, JSON.stringify(fieldsOf(name, sequence, undefined)))

const slowBytes = 40

/** They leave in the middle, say nothing more, or send a byte at a time. Never is half a row stored. */
export const misbehavingClients = eachCycle({}, async bed => {
  const ledger = openLedgerOf(bed)
  const sockets: Socket[] = []
  const attempts = 60
  for (let index = 0; index < attempts; index++) {
    sockets.push(await beRude(bed, ledger, rudeFrom + index, index % 3))
    await sleep(20)
  }
  const { status } = await bed.service.ready()
  if (status === 'unavailable') bed.tally.problems.push('misbehaving clients made the service unavailable')
  for (const socket of sockets) socket.destroy()
  ledger.close()
  bed.tally.notes.push(`${attempts} requests cut at random, held open or dripped`)
})

async function beRude(bed: TestBed, ledger: LedgerWriter, sequence: number, way: number) {
  const device = bed.devices[3] as Login
  const request = putOf(device, sequence)
  ledger.attempt({ sequence, device: device.name, kind: 'live', timeMs: undefined })
  const socket = connect({ host: '127.0.0.1', port: bed.service.port, noDelay: true })
  socket.on('error', () => undefined)
  await new Promise(resolve => socket.once('connect', resolve))
  const cutAt = bed.random.below(request.length + 1)
  if (way === 0) {
    socket.write(request.slice(0, cutAt))
    socket.resetAndDestroy()
  } else if (way === 1) {
    // Its sending side is closed in the middle, and it waits for an answer.
    socket.end(request.slice(0, cutAt))
  } else {
    void drip(socket, request, cutAt)
  }
  return socket
}

async function drip(socket: Socket, request: string, from: number): Promise<void> {
  const start = Math.max(0, Math.min(from, request.length - slowBytes))
  socket.write(request.slice(0, start))
  for (let at = start; at < request.length && !socket.destroyed; at++) {
    socket.write(request.slice(at, at + 1))
    await sleep(50)
  }
}

/** Enough for QuestDB, which has the same limit. */
const filesMax = 768
const addresses = 40
const perAddress = 30
/** Longer than the logs of the databases go without a look at them. */
const floodMs = 12_000

/**
 * More idle connections than the service may have files: it lives, serves those that it knows, and says so. The load comes as
 * from a proxy, which may have any number of connections.
 */
const idleOptions = { ownDatabases: true, filesMax, environment: { TRUST_PROXY: '127.0.0.1' }, perSecond: 200 }
export const idleConnections = eachCycle(idleOptions, async bed => {
  const { service, hooks, tally } = bed
  const url = `http://127.0.0.1:${service.port}`
  const pid = service.pid()
  await bed.untilTaken()
  const watcher = await openRaw(hooks, url)
  // A connection that has never said anything is let go after some seconds.
  const askReadiness = async (count: number) => {
    watcher.socket.write('GET /health/ready HTTP/1.1\r\nhost: x\r\n\r\n')
    await until('the readiness answers', () => watcher.answers() === count || watcher.socket.closed)
  }
  await askReadiness(1)
  const fromMs = Date.now()
  removeLogs(service.dataDirectory)
  const closed = await flood(bed, url)
  if (closed === 0) tally.problems.push('none of the connections was refused')
  await askReadiness(2)
  if (!watcher.received().includes('connections were refused')) {
    tally.problems.push(`readiness does not say that connections are refused: ${watcher.received()}`)
  }
  tally.notes.push(`${closed} idle connections were refused`)
  if (service.pid() !== pid || service.output().includes('"level":60')) tally.problems.push('the service has ended')
  await complainOfSilence(bed, fromMs)
  await until('a new connection is taken', () => isServed(url))
})

async function isServed(url: string): Promise<boolean> {
  const response = await fetch(`${url}/health/live`).catch(() => undefined)
  return response?.ok === true
}

async function flood({ hooks }: TestBed, url: string): Promise<number> {
  const untilMs = performance.now() + floodMs
  let refused = 0
  const idle: RawConnection[] = []
  while (performance.now() < untilMs) {
    for (let address = 1; address <= addresses; address++) {
      const opening = Array.from({ length: perAddress }, () => openRaw(hooks, url, `127.0.1.${address}`))
      idle.push(...(await Promise.all(opening)))
    }
    await sleep(500)
    refused = Math.max(refused, idle.filter(({ socket, answers }) => socket.closed && answers() === 0).length)
    // Those that say nothing are let go after some seconds, and come again.
    await sleep(floodMs / 2)
  }
  for (const { socket } of idle) socket.destroy()
  return refused
}

function removeLogs(dataDirectory: string): void {
  for (const path of ['questdb/questdb.log', 'postgres/postgres.log']) {
    const log = join(dataDirectory, path)
    if (!existsSync(log)) throw new Error(`there is no ${log}`)
    rmSync(log)
  }
}

const clientCount = 20
const getsOfEach = 800
const readingsBeside = 20
/**
 * Answers to others between a reading and its acknowledgement: some turns of all of them, as the thread of the journal waits for
 * a processor while another experiment uses it. Without turns these are all that a client has pipelined.
 */
const besideMax = clientCount * 20
const refusals = 30
const behindEach = 5
/** Clients that pipeline hold up no reading, and nothing behind a refusal is stored. */
export const pipelinedRequests = eachCycle({ perSecond: 100 }, async bed => {
  const ledger = openLedgerOf(bed)
  const url = `http://127.0.0.1:${bed.service.port}`
  await sendBesideOthers(bed, ledger, url)
  await sendBehindRefusals(bed, ledger, url)
  ledger.close()
})

/** A device that the load knows nothing of, so that what is sent here has an order of its own. */
async function addDevice({ service, devices }: TestBed, suffix: string): Promise<Login> {
  return (await service.addDevices([`${devices[0]?.name}${suffix}`]))[0] as Login
}

async function sendBesideOthers(bed: TestBed, ledger: LedgerWriter, url: string): Promise<void> {
  const { hooks, tally } = bed
  const device = await addDevice(bed, 'beside')
  const paths = ['/api/v1/contentfiles/?format=api', '/api/latest/all/24', '/metrics', '/health/ready']
  const clients = await Promise.all(Array.from({ length: clientCount }, () => openRaw(hooks, url)))
  const served = () => clients.reduce((sum, client) => sum + client.answers(), 0)
  // Where it is not, the rest fails.
  const isServed = ({ answers, socket }: RawConnection) => answers() > paths.length || socket.closed
  for (const { socket } of clients) {
    const gets = paths.map(path => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`).join('')
    socket.write(gets.repeat(getsOfEach / paths.length))
  }
  await until('all of them are served', () => clients.every(isServed))
  const { socket, received } = await openRaw(hooks, url)
  const gone = once(socket, 'close')
  const beside: number[] = []
  for (let index = 0; index < readingsBeside; index++) {
    const sequence = pipelinedFrom + index
    ledger.attempt({ sequence, device: device.name, kind: 'live', timeMs: undefined })
    const before = served()
    socket.write(putOf(device, sequence))
    await Promise.race([once(socket, 'data'), gone])
    beside.push(served() - before)
    ledger.result(sequence, 200)
  }
  tally.notes.push(`${served()} of ${clientCount * getsOfEach} pipelined requests were answered until then`)
  for (const client of [...clients, { socket }]) client.socket.destroy()
  const acknowledged = received().split('HTTP/1.1 200').length - 1
  if (acknowledged !== readingsBeside) tally.problems.push(`${acknowledged} of ${readingsBeside} readings were taken`)
  // The median: a disk that is slow for a moment holds up an acknowledgement, and others are served meanwhile.
  const median = beside.sort((a, b) => a - b)[Math.floor(readingsBeside / 2)] ?? 0
  tally.notes.push(`${median} answers to ${clientCount} clients that pipeline beside one acknowledgement`)
  if (median > besideMax) tally.problems.push(`${median} answers to others beside one acknowledgement`)
}

async function sendBehindRefusals(bed: TestBed, ledger: LedgerWriter, url: string): Promise<void> {
  const { hooks, tally } = bed
  const device = await addDevice(bed, 'behind')
  for (let index = 0; index < refusals; index++) {
    const first = pipelinedFrom + 1_000 + index * (behindEach + 1)
    const sequences = Array.from({ length: behindEach + 1 }, (_, offset) => first + offset)
    ledger.attempt(
      ...sequences.map(sequence => ({ sequence, device: device.name, kind: 'wrong' as const, timeMs: undefined })),
    )
    const { socket, closed } = await openRaw(hooks, url)
    const requests = sequences.map((sequence, at) =>
      putOf({ ...device, ...(at === 0 && { password: 'wrong' }) }, sequence),
    )
    if (index % 2 === 0) socket.write(requests.join(''))
    else for (const request of requests) await sleep(5, socket.write(request))
    const received = await closed
    const count = received.split('HTTP/1.1 ').length - 1
    if (count !== 1 || !received.startsWith('HTTP/1.1 401')) tally.problems.push(`${count} answers behind a refusal`)
    // What is stored of them in spite of it is found by the judgement.
    for (const sequence of sequences) ledger.result(sequence, 401)
  }
}
