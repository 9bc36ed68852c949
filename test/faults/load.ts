/**
 * The load generator, a process of its own: many devices that each wait for their answer, some that do not, now and then
 * a bulk import. What each of them sends is chance from a seed; all of it is in the ledger.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { valuesOf } from './identity.ts'
import { type Kind, type LedgerWriter, openLedger } from './ledger.ts'
import type { LoadCommand, LoadMessage, LoadOrder } from './load-order.ts'
import { Pipe, type PipeCounts } from './pipe.ts'
import { badBodies, fieldsOf, importRequest, putRequest } from './requests.ts'
import { createRandom, type Random } from './seeded-random.ts'

interface Sensor {
  name: string
  password: string
  /** One that was good before. */
  revokedPassword: string | undefined
  /** So many of the next attempts are made with it. */
  revokedTurns: number
  pipe: Pipe
  random: Random
  /** Times of its own that it has used, and may use again. */
  recentTimes: number[]
  lateTimes: number[]
}

interface Load {
  order: LoadOrder
  ledger: LedgerWriter
  counts: PipeCounts
  sensors: Sensor[]
  nextSequence: number
  /** Times of bulk imports. */
  imported: number
  /** Where the times of late readings begin. */
  lateFromMs: number
  stopping: boolean
}

const dayMs = 86_400_000
const reconnectMs = 50
const burstEveryMs = 100
const outstandingMax = 400
/** A device sends a time again only while it is fresh: then both are on their way at once. */
const recentMax = 12
const revokedTurns = 4

function createLoad(order: LoadOrder): Load {
  const counts = { halfAnswers: 0 }
  const sensors = order.devices.map(({ name, password }, index) => ({
    ...{ name, password, revokedPassword: undefined, revokedTurns: 0, recentTimes: [], lateTimes: [] },
    pipe: new Pipe(order.port, counts),
    random: createRandom(order.seed * 1009 + index),
  }))
  const lateFromMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs
  const ledger = openLedger(order.ledgerPath)
  const { firstSequence: nextSequence } = order
  return { order, ledger, counts, sensors, nextSequence, imported: 0, lateFromMs, stopping: false }
}

/** What the next reading of a device is; the shares are those of a fleet that has some trouble. */
function chooseKind(random: Random): { kind: Kind; again: boolean } {
  const draw = random.next()
  if (draw < 0.01) return { kind: 'bad', again: false }
  if (draw < 0.02) return { kind: 'wrong', again: false }
  if (draw < 0.1) return { kind: 'timed', again: false }
  if (draw < 0.16) return { kind: 'timed', again: true }
  if (draw < 0.19) return { kind: 'late', again: false }
  if (draw < 0.21) return { kind: 'late', again: true }
  return { kind: 'live', again: false }
}

function timeOf(load: Load, sensor: Sensor, kind: Kind, again: boolean): number | undefined {
  if (kind !== 'timed' && kind !== 'late') return undefined
  const used = kind === 'timed' ? sensor.recentTimes : sensor.lateTimes
  const [first, ...others] = used
  const last = used.at(-1)
  if (again && first !== undefined) return sensor.random.chance(0.5) ? last : sensor.random.pick([first, ...others])
  const wanted = kind === 'timed' ? Date.now() : load.lateFromMs - sensor.random.below(2) * 2 * dayMs
  const timeMs = kind === 'timed' ? Math.max(wanted, (last ?? 0) + 1) : lateTime(wanted, used)
  used.push(timeMs)
  if (used.length > recentMax) used.shift()
  return timeMs
}

/** Each late time is used once, but for those that are sent again on purpose. */
function lateTime(dayStartMs: number, used: number[]): number {
  return dayStartMs + Math.max(0, ...used.map(timeMs => timeMs % dayMs)) + 250
}

function sendOne(load: Load, sensor: Sensor, mayBeRefused: boolean): Promise<boolean> {
  const { ledger } = load
  const chosen = chooseKind(sensor.random)
  const isGood = chosen.kind !== 'bad' && chosen.kind !== 'wrong'
  const isRevoked = mayBeRefused && sensor.revokedTurns > 0
  if (isRevoked) sensor.revokedTurns--
  const kind = isRevoked ? 'revoked' : isGood || mayBeRefused ? chosen.kind : 'live'
  const timeMs = timeOf(load, sensor, kind, chosen.again)
  const sequence = load.nextSequence++
  ledger.attempt({ sequence, device: sensor.name, kind, timeMs })
  return new Promise(resolve => {
    sensor.pipe.send(requestOf(sensor, kind, sequence, timeMs), answer => {
      ledger.result(sequence, answer?.status)
      if (answer?.status === 401 || answer?.status === 429) sensor.pipe.close()
      resolve(answer !== undefined)
    })
  })
}

function requestOf(sensor: Sensor, kind: Kind, sequence: number, timeMs: number | undefined): string {
  const { name, password, revokedPassword, random } = sensor
  const sent = kind === 'wrong' ? 'not-the-password' : kind === 'revoked' ? (revokedPassword ?? '') : password
  const body =
    kind === 'bad' ? random.pick(badBodies(name, sequence)) : JSON.stringify(fieldsOf(name, valuesOf(sequence), timeMs))
  return putRequest(name, sent, body)
}

/** Sends, waits for the answer, waits a while, and so on. */
async function runPatient(load: Load, sensor: Sensor): Promise<void> {
  const { order } = load
  const patient = order.devices.length - order.busyDevices
  const meanMs = (patient * 1000) / (order.perSecond * (order.busyDevices === 0 ? 1 : 0.6))
  while (!load.stopping) {
    if (!(await sensor.pipe.open())) {
      await sleep(reconnectMs)
      continue
    }
    await sendOne(load, sensor, true)
    await sleep(meanMs * 2 * sensor.random.next())
  }
}

/** Sends in bursts, whatever has become of those before. */
async function runBusy(load: Load, sensor: Sensor): Promise<void> {
  const { order } = load
  const burst = Math.ceil((order.perSecond * 0.4 * burstEveryMs) / 1000 / order.busyDevices)
  while (!load.stopping) {
    const isOpen = await sensor.pipe.open()
    for (let count = 0; isOpen && count < burst && sensor.pipe.outstanding < outstandingMax; count++) {
      // A refusal for the password closes the connection, and what was sent behind it would get no answer.
      void sendOne(load, sensor, false)
    }
    await sleep(burstEveryMs)
  }
  while (sensor.pipe.outstanding > 0) await sleep(5)
}

async function runImports(load: Load, token: string): Promise<void> {
  const pipe = new Pipe(load.order.port, load.counts)
  const sensor = load.sensors.at(-1)
  while (!load.stopping && sensor !== undefined && load.imported < load.order.importsMax) {
    if (await pipe.open()) await importOnce(load, pipe, token, sensor.name)
    const untilMs = performance.now() + load.order.importEveryMs
    while (!load.stopping && performance.now() < untilMs) await sleep(reconnectMs)
  }
  pipe.close()
}

function importOnce(load: Load, pipe: Pipe, token: string, device: string): Promise<void> {
  const { importReadings } = load.order
  // Every second one replaces half of the one before it.
  const from = load.imported % 2 === 0 ? load.imported * importReadings : (load.imported - 0.5) * importReadings
  load.imported++
  const readings = Array.from({ length: importReadings }, (_, index) => ({
    ...{ sequence: load.nextSequence + index, device, kind: 'import' as const },
    timeMs: load.lateFromMs + 36_000_000 + (Math.floor(from) + index) * 10,
  }))
  load.nextSequence += importReadings
  load.ledger.attempt(...readings)
  const lines = readings.map(({ sequence, timeMs }) => JSON.stringify(fieldsOf(device, valuesOf(sequence), timeMs)))
  return new Promise(resolve => {
    pipe.send(importRequest(token, lines.join('\n')), answer => {
      // Any other answer may speak of a part of them.
      const isWhole = answer?.status === 200 && JSON.parse(answer.body).accepted === importReadings
      for (const { sequence } of readings) load.ledger.result(sequence, isWhole ? 200 : undefined)
      resolve()
    })
  })
}

async function run(load: Load): Promise<void> {
  const { order, sensors } = load
  const runs = sensors.map((sensor, index) => {
    const isBusy = index < order.busyDevices
    return isBusy ? runBusy(load, sensor) : runPatient(load, sensor)
  })
  if (order.adminToken !== undefined) runs.push(runImports(load, order.adminToken))
  await Promise.all(runs)
  for (const sensor of sensors) sensor.pipe.close()
  load.ledger.close()
}

const say = (message: LoadMessage) => process.send?.(message)
let load: Load | undefined

function revoke(device: string, password: string, atMs: number): void {
  const sensor = load?.sensors.find(({ name }) => name === device)
  if (sensor === undefined) return
  sensor.revokedPassword = sensor.password
  sensor.revokedTurns = revokedTurns
  sensor.password = password
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
