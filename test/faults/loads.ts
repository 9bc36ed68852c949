/** The loads of an experiment: readings, and points of stations where they are wanted. */

import { join } from 'node:path'
import type { TestHooks } from '../support/databases.ts'
import { addStations, makeStationKey } from '../support/people.ts'
import { type LoadProcess, startLoadProcess } from './load-process.ts'
import type { Ports } from './pipe.ts'
import type { ServiceProcess } from './service-process.ts'
import type { StationUnderTest } from './station-route.ts'

const stationCountUsual = 4
const pointRequestsPerSecondUsual = 40

export interface LoadsOptions {
  ports: Ports
  mqttPort: number
  adminToken: string
  /** Where the ledgers go. */
  folder: string
  devices: { name: string; password: string }[]
  stations: StationUnderTest[]
  options: LoadOptions
}

export interface LoadOptions {
  seed: number
  devices?: number
  busyDevices?: number
  perSecond?: number
  importEveryMs?: number
  importReadings?: number
  importsMax?: number
  /** So many of the devices publish over MQTT. */
  mqttDevices?: number
  /** Some requests have idempotency keys, and are sent again until they are answered. */
  keyed?: boolean
  /** Points of stations, besides the readings. */
  points?: boolean
  stationCount?: number
  /** Requests of several points each. */
  pointRequestsPerSecond?: number
  /** As in a LoadOrder. */
  clockFile?: string
}

/** A process and a ledger for each kind of traffic, the readings first. */
export async function startLoads(
  hooks: TestHooks,
  { ports, mqttPort, adminToken, folder, devices, stations, options }: LoadsOptions,
): Promise<{ load: LoadProcess; ledgerPaths: string[] }> {
  const { seed } = options
  const ledgerPaths = [join(folder, 'ledger')]
  const { importReadings = 500, clockFile } = options
  const common = { ports, seed, firstSequence: 1, importReadings, clockFile }
  const ofReadings = await startLoadProcess(hooks, {
    ...common,
    traffic: 'readings',
    ledgerPath: firstOf(ledgerPaths),
    devices,
    mqtt: { port: mqttPort, devices: options.mqttDevices ?? 0 },
    keyed: options.keyed ?? false,
    busyDevices: options.busyDevices ?? 1,
    perSecond: options.perSecond ?? 400,
    adminToken: options.importEveryMs === undefined ? undefined : adminToken,
    importEveryMs: options.importEveryMs ?? 0,
    importsMax: options.importsMax ?? Number.MAX_SAFE_INTEGER,
  })
  if (stations.length === 0) return { load: ofReadings, ledgerPaths }
  const ledgerPath = join(folder, 'ledger-of-points')
  ledgerPaths.push(ledgerPath)
  const ofPoints = await startLoadProcess(hooks, {
    ...common,
    traffic: 'points',
    ledgerPath,
    devices: stations,
    busyDevices: 1,
    perSecond: options.pointRequestsPerSecond ?? pointRequestsPerSecondUsual,
    adminToken: undefined,
    importEveryMs: 0,
    importsMax: 0,
    mqtt: undefined,
    keyed: false,
  })
  const stop: LoadProcess['stop'] = async () => {
    const [one, other] = await Promise.all([ofReadings.stop(), ofPoints.stop()])
    return { ...one, halfAnswers: one.halfAnswers + other.halfAnswers }
  }
  function pause(): () => void {
    const goOn = [ofReadings, ofPoints].map(load => load.pause())
    return () => {
      for (const one of goOn) one()
    }
  }
  return { load: { revoked: ofReadings.revoked, pause, stop }, ledgerPaths }
}

export async function addStationsFor(
  service: ServiceProcess,
  prefix: string,
  { points, stationCount = stationCountUsual }: LoadOptions,
): Promise<StationUnderTest[]> {
  if (points !== true) return []
  const password = await makeStationKey(`http://127.0.0.1:${service.port}`, service.adminWhenLet)
  const stations = Array.from({ length: stationCount }, (_, index) => ({ name: `${prefix}${index}`, password }))
  await addStations(
    service.adminWhenLet,
    stations.map(({ name }) => name),
  )
  return stations
}

export function firstOf<Value>([first]: readonly Value[]): Value {
  if (first === undefined) throw new Error('there are readings')
  return first
}
