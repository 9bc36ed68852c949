/**
 * The load generator, one process for each kind of traffic: senders that wait for their responses, some that do not, and
 * occasional imports. A seed determines the requests. The ledger records all of them.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type LedgerWriter, openLedger } from './ledger.ts'
import { createPoints } from './load-points.ts'
import { createReadings } from './load-readings.ts'
import type { Outgoing, Sender, Traffic } from './load-traffic.ts'
import type { LoadCommand, LoadMessage, LoadOrder } from './loads.ts'
import { HttpPipe, MqttPipe, type Pipe } from './pipe.ts'
import { createRandom } from './seeded-random.ts'

interface RunningLoad {
  order: LoadOrder
  busyDevices: number
  perSecond: number
  traffic: Traffic
  ledger: LedgerWriter
  senders: Sender[]
  stopping: boolean
}

const reconnectMs = 50
const burstEveryMs = 100
const outstandingMax = 400
const revokedTurns = 4
/** Share of the requests that open a new connection, for senders with several processes. */
const moveShare = 0.1

function createLoad(order: LoadOrder): RunningLoad {
  let nextSequence = 1
  const createTraffic = order.traffic === 'points' ? createPoints : createReadings
  const traffic = createTraffic(order, count => {
    nextSequence += count
    return nextSequence - count
  })
  const { busyDevices = 1, perSecond = 400 } = order
  const senders = order.devices.map((_, index) => createSender(order, index))
  return { order, busyDevices, perSecond, traffic, ledger: openLedger(order.ledgerPath), senders, stopping: false }
}

function createSender(order: LoadOrder, index: number): Sender {
  const { name = '', password = '' } = order.devices[index] ?? {}
  const isByMqtt = index > 0 && index <= (order.mqttDevices ?? 0)
  const random = createRandom(order.seed * 1009 + index)
  const login = { name, password, revokedPassword: undefined, revokedTurns: 0, random, mqtt: undefined }
  const sender: Sender = { ...login, pipe: new HttpPipe(order.ports, random) }
  if (isByMqtt) {
    // Half of the senders use each version.
    sender.mqtt = new MqttPipe(index % 2 === 0 ? 4 : 5, order.mqttPort, sender)
    sender.pipe = sender.mqtt
  }
  return sender
}

async function send(load: RunningLoad, pipe: Pipe, outgoing: Outgoing): Promise<void> {
  const { attempts, isRepeated } = outgoing
  load.ledger.attempt(...attempts)
  const statuses = isRepeated ? await repeat(load, pipe, outgoing) : await ask(pipe, outgoing)
  for (const [index, { sequence }] of attempts.entries()) load.ledger.result(sequence, statuses[index])
}

function ask(pipe: Pipe, { request, statusesOf }: Outgoing): Promise<(number | undefined)[]> {
  return new Promise(resolve => {
    pipe.send(request, answer => {
      resolve(answer === undefined ? [] : statusesOf(answer))
      if (answer?.status === 401 || answer?.status === 429) pipe.close()
    })
  })
}

/**
 * Repeats until the request is stored, rejected at first, or the load ends. A rejection does not determine the result of an
 * earlier try without a response.
 */
async function repeat(load: RunningLoad, pipe: Pipe, outgoing: Outgoing): Promise<(number | undefined)[]> {
  let isUnknown = false
  for (;;) {
    const statuses = (await pipe.open()) ? await ask(pipe, outgoing) : []
    const [status] = statuses
    if (status === 200 || (status !== undefined && !isUnknown)) return statuses
    if (load.stopping || (status !== undefined && status < 500)) return []
    isUnknown = true
    await sleep(reconnectMs)
  }
}

async function runPatient(load: RunningLoad, sender: Sender): Promise<void> {
  const { busyDevices, order, perSecond } = load
  const meanMs = ((order.devices.length - busyDevices) * 1000) / (perSecond * (busyDevices === 0 ? 1 : 0.6))
  while (!load.stopping) {
    if (order.ports.length > 1 && sender.mqtt === undefined && sender.random.chance(moveShare)) sender.pipe.close()
    if (!(await sender.pipe.open())) {
      await sleep(reconnectMs)
      continue
    }
    await send(load, sender.pipe, load.traffic.next(sender, true))
    await sleep(meanMs * 2 * sender.random.next())
  }
}

/** Sends in bursts without waiting for responses. */
async function runBusy(load: RunningLoad, sender: Sender): Promise<void> {
  const burst = Math.ceil((load.perSecond * 0.4 * burstEveryMs) / 1000 / load.busyDevices)
  while (!load.stopping) {
    const isOpen = await sender.pipe.open()
    for (let count = 0; isOpen && count < burst && sender.pipe.outstanding < outstandingMax; count++) {
      // A rejected password closes the connection, so pipelined requests would get no response.
      void send(load, sender.pipe, load.traffic.next(sender, false))
    }
    await sleep(burstEveryMs)
  }
  while (sender.pipe.outstanding > 0) await sleep(5)
}

async function runImports(load: RunningLoad, importEveryMs: number): Promise<void> {
  const { order, traffic } = load
  const { importsMax = Number.MAX_SAFE_INTEGER } = order
  const pipe = new HttpPipe(order.ports, createRandom(order.seed))
  const sender = load.senders.at(-1)
  for (let imported = 0; !load.stopping && sender !== undefined && imported < importsMax; ) {
    if ((await pipe.open()) && traffic.nextImport !== undefined) {
      imported++
      await send(load, pipe, traffic.nextImport(sender, order.adminToken))
    }
    const untilMs = performance.now() + importEveryMs
    while (!load.stopping && performance.now() < untilMs) await sleep(reconnectMs)
  }
  pipe.close()
}

async function run(load: RunningLoad): Promise<void> {
  const { busyDevices, order, senders } = load
  const runs = senders.map((sender, index) => (index < busyDevices ? runBusy(load, sender) : runPatient(load, sender)))
  if (order.importEveryMs !== undefined) runs.push(runImports(load, order.importEveryMs))
  await Promise.all(runs)
  for (const sender of senders) sender.pipe.close()
  load.ledger.close()
}

const say = (message: LoadMessage) => process.send?.(message)
let load: RunningLoad | undefined

function revoke(device: string, password: string, atMs: number): void {
  const sender = load?.senders.find(({ name }) => name === device)
  if (sender === undefined) return
  Object.assign(sender, { revokedPassword: sender.password, revokedTurns, password })
  load?.ledger.revoked(device, atMs)
}

// The harness has ended, or has disconnected this process.
process.on('disconnect', () => process.exit())
process.on('message', (command: LoadCommand) => {
  if (command.kind === 'revoked') revoke(command.device, command.password, command.atMs)
  else if (command.kind === 'stop' && load !== undefined) load.stopping = true
  else if (command.kind === 'start') {
    load = createLoad(command.order)
    say({ kind: 'started' })
    void run(load).then(() => {
      say({ kind: 'stopped', halfAnswers: HttpPipe.halfAnswers })
      process.disconnect()
    })
  }
})
