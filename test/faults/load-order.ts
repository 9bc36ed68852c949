/** What the harness and its load generator say to each other. */

import type { Ports } from './pipe.ts'

export type TrafficName = 'readings' | 'points'

export interface LoadOrder {
  traffic: TrafficName
  ports: Ports
  seed: number
  ledgerPath: string
  /** The number of the first attempt. */
  firstSequence: number
  /** Or stations, whose password is an API key. */
  devices: { name: string; password: string }[]
  /** How many of them, from the second on, publish over MQTT at this port. */
  mqtt: { port: number; devices: number } | undefined
  /** Whether some requests have idempotency keys. */
  keyed: boolean
  /** How many of them, from the first on, send without waiting for answers. */
  busyDevices: number
  /** Requests a second over all devices, about. */
  perSecond: number
  /** For bulk imports; without it there are none. */
  adminToken: string | undefined
  importEveryMs: number
  importReadings: number
  /** So many in all. */
  importsMax: number
  /** The devices have the clock of the service, which this file says (clock-file.ts). */
  clockFile: string | undefined
}

export type LoadCommand =
  | { kind: 'start'; order: LoadOrder }
  /** The old password of the device is worth nothing since `atMs`. */
  | { kind: 'revoked'; device: string; password: string; atMs: number }
  | { kind: 'stop' }

export interface LoadResult {
  /** Behind the last attempt. */
  nextSequence: number
  halfAnswers: number
}
export type LoadMessage = { kind: 'started' } | { kind: 'stopped'; result: LoadResult }
