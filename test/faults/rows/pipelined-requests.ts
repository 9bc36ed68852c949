/** Row 25: clients that pipeline hold up no reading, and nothing behind a refusal is stored. */

import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/processes.ts'
import { openRaw, type RawConnection } from '../../support/raw-connection.ts'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import { openLedger } from '../ledger.ts'
import { fieldsOf, putRequest } from '../requests.ts'
import type { Tally } from '../tally.ts'

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
/** Far behind those of the load. */
const sequenceFrom = 600_000_000

export async function pipelinedRequests(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally, perSecond: 100 }, async bed => {
      const ledger = openLedger(join(bed.folder, 'ledger'))
      const url = `http://127.0.0.1:${bed.service.port}`
      await sendBesideOthers(bed, ledger, url)
      await sendBehindRefusals(bed, ledger, url)
      ledger.close()
    })
  }
}

type Ledger = ReturnType<typeof openLedger>

/** A device that the load knows nothing of, so that what is sent here has an order of its own. */
async function addDevice({ service, devices }: TestBed, suffix: string): Promise<TestBed['devices'][number]> {
  const { body } = await service.admin('POST', '/devices', { name: `${devices[0]?.name}${suffix}` })
  const { device, password } = body as { device: string; password: string }
  return { name: device, password }
}

async function sendBesideOthers(bed: TestBed, ledger: Ledger, url: string): Promise<void> {
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
    const sequence = sequenceFrom + index
    ledger.attempt({ sequence, device: device.name, kind: 'live', timeMs: undefined })
    const before = served()
    socket.write(requestOf(device, device.password, sequence))
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

async function sendBehindRefusals(bed: TestBed, ledger: Ledger, url: string): Promise<void> {
  const { hooks, tally } = bed
  const device = await addDevice(bed, 'behind')
  for (let index = 0; index < refusals; index++) {
    const first = sequenceFrom + 1_000 + index * (behindEach + 1)
    const sequences = Array.from({ length: behindEach + 1 }, (_, offset) => first + offset)
    ledger.attempt(
      ...sequences.map(sequence => ({ sequence, device: device.name, kind: 'wrong' as const, timeMs: undefined })),
    )
    const { socket, closed } = await openRaw(hooks, url)
    const requests = sequences.map((sequence, at) => requestOf(device, at === 0 ? 'wrong' : device.password, sequence))
    if (index % 2 === 0) socket.write(requests.join(''))
    else for (const request of requests) await sleep(5, socket.write(request))
    const received = await closed
    const count = received.split('HTTP/1.1 ').length - 1
    if (count !== 1 || !received.startsWith('HTTP/1.1 401')) tally.problems.push(`${count} answers behind a refusal`)
    // What is stored of them in spite of it is found by the judgement.
    for (const sequence of sequences) ledger.result(sequence, 401)
  }
}

function requestOf({ name }: { name: string }, password: string, sequence: number): string {
  return putRequest(name, password, JSON.stringify(fieldsOf(name, sequence, undefined)))
}
