/**
 * The load generator, a process of its own for one kind of traffic: many senders that each wait for their answer, some
 * that do not, now and then a bulk import. What each of them sends is chance from a seed; all of it is in the ledger.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type LedgerWriter, openLedger } from './ledger.ts'
import type { LoadCommand, LoadMessage, LoadOrder, TrafficName } from './load-order.ts'
import { createPoints } from './load-points.ts'
import { createReadings } from './load-readings.ts'
import type { CreateTraffic, Outgoing, Sender, Traffic } from './load-traffic.ts'
import { MqttPipe } from './mqtt-pipe.ts'
import { type Answer, HttpPipe, type Pipe, type PipeCounts } from './pipe.ts'
import { createRandom } from './seeded-random.ts'

interface Load {
  order: LoadOrder
  traffic: Traffic
  ledger: LedgerWriter
  counts: PipeCounts
  senders: Sender[]
  nextSequence: number
  stopping: boolean
}

const reconnectMs = 50
const burstEveryMs = 100
const outstandingMax = 400
const revokedTurns = 4
/** Of the requests of a sender that may go to several processes: before these it connects anew. */
const moveShare = 0.1

const traffics: Record<TrafficName, CreateTraffic> = { readings: createReadings, points: createPoints }

function createLoad(order: LoadOrder): Load {
  const counts = { halfAnswers: 0 }
  const senders = order.devices.map((_, index) => createSender(order, index, counts))
  const traffic = traffics[order.traffic](order, count => {
    const first = load.nextSequence
    load.nextSequence += count
    return first
  })
  const ledger = openLedger(order.ledgerPath)
  const load: Load = { order, traffic, ledger, counts, senders, nextSequence: order.firstSequence, stopping: false }
  return load
}

function createSender(order: LoadOrder, index: number, counts: PipeCounts): Sender {
  const { name = '', password = '' } = order.devices[index] ?? {}
  const isByMqtt = order.mqtt !== undefined && index > 0 && index <= order.mqtt.devices
  const mqtt = isByMqtt
    ? new MqttPipe({
        // Half of them of each version.
        version: index % 2 === 0 ? 4 : 5,
        port: order.mqtt?.port ?? 0,
        device: name,
        password: () => sender.password,
      })
    : undefined
  const random = createRandom(order.seed * 1009 + index)
  const sender: Sender = {
    name,
    password,
    revokedPassword: undefined,
    revokedTurns: 0,
    mqtt,
    pipe: mqtt ?? new HttpPipe(order.ports, random, counts),
    random,
  }
  return sender
}

async function send(load: Load, pipe: Pipe, outgoing: Outgoing): Promise<void> {
  const { attempts, isRepeated } = outgoing
  load.ledger.attempt(...attempts)
  const statuses = isRepeated ? await repeat(load, pipe, outgoing) : await ask(pipe, outgoing)
  for (const [index, { sequence }] of attempts.entries()) load.ledger.result(sequence, statuses[index])
}

/** Empty when there was no answer. */
function ask(pipe: Pipe, { request, statusesOf }: Outgoing): Promise<(number | undefined)[]> {
  return new Promise(resolve => {
    pipe.send(request, (answer: Answer | undefined) => {
      resolve(answer === undefined ? [] : statusesOf(answer))
      if (answer?.status === 401 || answer?.status === 429) pipe.close()
    })
  })
}

/** Until it is stored, refused at once, or the load ends. A refusal says nothing of a try before it that had no answer. */
async function repeat(load: Load, pipe: Pipe, outgoing: Outgoing): Promise<(number | undefined)[]> {
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

/** Sends, waits for the answer, waits a while, and so on. */
async function runPatient(load: Load, sender: Sender): Promise<void> {
  const { order } = load
  const patient = order.devices.length - order.busyDevices
  const meanMs = (patient * 1000) / (order.perSecond * (order.busyDevices === 0 ? 1 : 0.6))
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

/** Sends in bursts, whatever has become of those before. */
async function runBusy(load: Load, sender: Sender): Promise<void> {
  const { order } = load
  const burst = Math.ceil((order.perSecond * 0.4 * burstEveryMs) / 1000 / order.busyDevices)
  while (!load.stopping) {
    const isOpen = await sender.pipe.open()
    for (let count = 0; isOpen && count < burst && sender.pipe.outstanding < outstandingMax; count++) {
      // A refusal for the password closes the connection, and what was sent behind it would get no answer.
      void send(load, sender.pipe, load.traffic.next(sender, false))
    }
    await sleep(burstEveryMs)
  }
  while (sender.pipe.outstanding > 0) await sleep(5)
}

async function runImports(load: Load, adminToken: string): Promise<void> {
  const { order, traffic } = load
  const pipe = new HttpPipe(order.ports, createRandom(order.seed), load.counts)
  const sender = load.senders.at(-1)
  for (let imported = 0; !load.stopping && sender !== undefined && imported < order.importsMax; ) {
    if ((await pipe.open()) && traffic.nextImport !== undefined) {
      imported++
      await send(load, pipe, traffic.nextImport(sender, adminToken))
    }
    const untilMs = performance.now() + order.importEveryMs
    while (!load.stopping && performance.now() < untilMs) await sleep(reconnectMs)
  }
  pipe.close()
}

async function run(load: Load): Promise<void> {
  const { order, senders } = load
  const runs = senders.map((sender, index) => {
    const isBusy = index < order.busyDevices
    return isBusy ? runBusy(load, sender) : runPatient(load, sender)
  })
  if (order.adminToken !== undefined) runs.push(runImports(load, order.adminToken))
  await Promise.all(runs)
  for (const sender of senders) sender.pipe.close()
  load.ledger.close()
}

const say = (message: LoadMessage) => process.send?.(message)
let load: Load | undefined

function revoke(device: string, password: string, atMs: number): void {
  const sender = load?.senders.find(({ name }) => name === device)
  if (sender === undefined) return
  sender.revokedPassword = sender.password
  sender.revokedTurns = revokedTurns
  sender.password = password
  load?.ledger.revoked(device, atMs)
}

// The harness has ended, or was stopped by it.
process.on('disconnect', () => process.exit())
process.on('message', (command: LoadCommand) => {
  if (command.kind === 'revoked') revoke(command.device, command.password, command.atMs)
  else if (command.kind === 'stop' && load !== undefined) load.stopping = true
  else if (command.kind === 'start') {
    const started = createLoad(command.order)
    load = started
    say({ kind: 'started' })
    void run(started).then(() => {
      const { nextSequence, counts } = started
      say({ kind: 'stopped', result: { nextSequence, halfAnswers: counts.halfAnswers } })
      process.disconnect()
    })
  }
})
