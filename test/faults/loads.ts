/** The loads of an experiment: readings, and optionally points of stations, each sent by a separate process. */

import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { TestHooks } from '../support/databases.ts'
import { messageOf } from '../support/processes.ts'
import type { Ports } from './pipe.ts'

export interface LoadOptions {
  seed: number
  devices?: number
  /** The number of devices, from the first on, that send without waiting for responses. */
  busyDevices?: number
  /** Approximate requests a second over all devices. */
  perSecond?: number
  /** Undefined disables bulk imports. */
  importEveryMs?: number
  importReadings?: number
  /** Limits the number of imports. */
  importsMax?: number
  /** The number of devices, from the second on, that publish over MQTT. */
  mqttDevices?: number
  /** Some requests have idempotency keys and are repeated until they are answered. */
  keyed?: boolean
  /** Points of stations are sent besides the readings. */
  points?: boolean
  stationCount?: number
  pointRequestsPerSecond?: number
}

/** A device with its password, or a station with an API key. */
export interface Login {
  name: string
  password: string
}

interface LoadTargets {
  ports: Ports
  mqttPort: number
  adminToken: string
}

export interface LoadOrder extends Omit<LoadOptions, 'devices'>, LoadTargets {
  traffic: 'readings' | 'points'
  ledgerPath: string
  devices: readonly Login[]
}

export type LoadCommand =
  | { kind: 'start'; order: LoadOrder }
  /** The device's old password is invalid since `atMs`. */
  | { kind: 'revoked'; device: string; password: string; atMs: number }
  | { kind: 'stop' }
export type LoadMessage = { kind: 'started' } | { kind: 'stopped'; halfAnswers: number }

export interface Load {
  revoked(device: string, password: string, atMs: number): void
  /** Waits for outstanding responses and returns how many were truncated. May be called twice. */
  stop(): Promise<number>
}

/** Returns a ledger for each kind of traffic, the readings first. */
export async function startLoads(
  hooks: TestHooks,
  targets: LoadTargets,
  folder: string,
  { devices, stations }: { devices: readonly Login[]; stations: readonly Login[] },
  options: LoadOptions,
): Promise<{ load: Load; ledgerPaths: string[] }> {
  const { seed, perSecond, busyDevices, mqttDevices, keyed, pointRequestsPerSecond = 40 } = options
  const { importEveryMs, importReadings, importsMax } = options
  const ofReadings = { ...{ perSecond, busyDevices, mqttDevices, keyed }, importEveryMs, importReadings }
  const orders = [
    { ...ofReadings, importsMax, traffic: 'readings', ledgerPath: join(folder, 'ledger'), devices },
    {
      ...{ perSecond: pointRequestsPerSecond, traffic: 'points' },
      ...{ ledgerPath: join(folder, 'ledger-of-points'), devices: stations },
    },
  ].slice(0, stations.length === 0 ? 1 : 2)
  const loads: Load[] = []
  for (const order of orders) loads.push(await startLoad(hooks, { ...targets, seed, ...order } as LoadOrder))
  const load: Load = {
    revoked: (...revocation) => loads[0]?.revoked(...revocation),
    stop: async () => (await Promise.all(loads.map(one => one.stop()))).reduce((sum, count) => sum + count, 0),
  }
  return { load, ledgerPaths: orders.map(({ ledgerPath }) => ledgerPath) }
}

async function startLoad(t: TestHooks, order: LoadOrder): Promise<Load> {
  const child = fork(join(import.meta.dirname, 'load.ts'))
  t.teardown(() => child.kill('SIGKILL'))
  const send = (command: LoadCommand) => child.send(command)
  const halfAnswers = new Promise<number>((resolve, reject) => {
    child.on('message', (message: LoadMessage) => {
      if (message.kind === 'stopped') resolve(message.halfAnswers)
    })
    child.on('exit', code => {
      const fail = () => reject(new Error(`the load generator has ended with ${code}`))
      // The last message of a process can arrive after its exit.
      if (child.connected) child.once('disconnect', fail)
      else fail()
    })
  })
  // `stop` throws the error.
  halfAnswers.catch(() => undefined)
  let stopped = false
  send({ kind: 'start', order })
  await messageOf(child)
  return {
    revoked: (device, password, atMs) => send({ kind: 'revoked', device, password, atMs }),
    stop() {
      if (!stopped) send({ kind: 'stop' })
      stopped = true
      return halfAnswers
    },
  }
}
