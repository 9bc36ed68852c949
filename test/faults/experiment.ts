/**
 * One experiment: a service on its own data directory, a load, and the faults of a matrix row. Once everything acknowledged is
 * applied, two routes are judged.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../store/process/free-port.ts'
import { addStations, makeStationKey } from '../support/people.ts'
import { until } from '../support/processes.ts'
import type { ClockPeriod } from './clock.ts'
import type { FaultKafka } from './cluster/fault-kafka.ts'
import { conclude } from './conclusion.ts'
import { type Databases, settingsFor } from './databases.ts'
import { createHooks, type Hooks } from './hooks.ts'
import { isAcknowledged, type Ledger, readLedger } from './ledger.ts'
import { type Load, type LoadOptions, type Login, startLoads } from './loads.ts'
import type { Ports } from './pipe.ts'
import { createRandom, type Random } from './seeded-random.ts'
import { createServiceProcess, type ServiceOptions, type ServiceProcess } from './service-process.ts'
import type { Tally } from './tally.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** The parts that exist before any server runs. */
export interface Surroundings {
  folder: string
  source: string
  say(line: string): void
}

export interface Harness extends Surroundings {
  databases: Databases
  kafka?: FaultKafka
}

/** One row of the matrix, or a part of it. */
export type Run<Given> = (given: Given, tally: Tally, seed: number, cycles: number) => Promise<void>

export interface ExperimentOptions extends LoadOptions {
  tally: Tally
  environment?: Record<string, string>
  words?: readonly string[]
  /** Ports of all services that receive the load, by default only of this service. */
  ports?: Ports
  /** The experiment starts separate databases instead of the shared ones. */
  ownDatabases?: boolean
  /** The offsets of the service's clock, if it is wrong on purpose. A row may add to them. */
  clock?: ClockPeriod[]
  firstStart?: Record<string, string>
}

type RowOptions = Omit<ExperimentOptions, 'seed' | 'tally'>

export interface TestBed {
  hooks: Hooks
  databases: Databases
  service: ServiceProcess
  proxy: TcpProxy
  random: Random
  load: Load
  tally: Tally
  folder: string
  devices: Login[]
  /** Acknowledged readings that are damaged on purpose. */
  exempt: Set<number>
  /** Devices with a completed erase, by their symbols. */
  erased: Map<string, string>
  stations: Login[]
  /** Stations with a completed erase. */
  erasedStations: Set<string>
  /** The offsets of the service's clock. Empty if it was right. */
  clock: ClockPeriod[]
  /** Times at which the service ended without being stopped. */
  crashedAt: number[]
  ledger(): Ledger
  ledgers(): [ofReadings: Ledger, ...ofPoints: Ledger[]]
  kill(): Promise<void>
  noteCrash(): void
  /** Another process of the service, by default on a separate port. */
  another(options: Omit<ServiceOptions, 'source' | 'port'> & { port?: number }): Promise<ServiceProcess>
  /** Waits until `count` more readings are acknowledged, and a point if there are any. */
  untilAcknowledged(count: number): Promise<void>
  /** Waits until a reading sent after the call is acknowledged, and a point if there are any. */
  untilTaken(): Promise<void>
  /** A device other than the first, which is busy, and the last `without`, by default the device of the imports. */
  anyDevice(without?: number): string
  /** Changes the device's password at once. False if the service `by`, or this one, cannot do so now. */
  revoke(device: string, by?: ServiceProcess): Promise<boolean>
  /** Resolves when a revocation has succeeded. From then on the old password must be rejected. */
  untilRevoked(): Promise<void>
}

const deviceCount = 40
const stationCountUsual = 4

export async function experiment(
  harness: Harness,
  options: ExperimentOptions,
  work: (bed: TestBed) => Promise<void>,
): Promise<void> {
  const hooks = createHooks()
  try {
    const bed = await setUp(harness, hooks, options)
    await work(bed)
    const halfAnswers = await bed.load.stop()
    if (halfAnswers > 0) bed.tally.problems.push(`${halfAnswers} answers were cut in the middle`)
    await conclude(bed, options, harness.say)
  } catch (error) {
    throw new Error(`seed ${options.seed}, in ${folderOf(harness, options)}`, { cause: error })
  } finally {
    await hooks.undo()
  }
}

/** A row with one experiment for each cycle. */
export function eachCycle(
  options: RowOptions | ((cycle: number, harness: Harness) => RowOptions),
  work: (bed: TestBed, cycle: number, harness: Harness) => Promise<void>,
): Run<Harness> {
  return async (harness, tally, seed, cycles) => {
    for (let cycle = 0; cycle < cycles; cycle++) {
      const own = typeof options === 'function' ? options(cycle, harness) : options
      await experiment(harness, { ...own, seed: seed + cycle, tally }, bed => work(bed, cycle, harness))
    }
  }
}

/** A row with ten cycles for each experiment, judged at its end. */
export function tenAtATime(options: RowOptions, work: (bed: TestBed, count: number) => Promise<void>): Run<Harness> {
  return async (harness, tally, seed, cycles) => {
    for (let done = 0; done < cycles; done += 10) {
      const count = Math.min(10, cycles - done)
      await experiment(harness, { ...options, seed: seed + done, tally }, bed => work(bed, count))
    }
  }
}

const folderOf = ({ folder }: Harness, { seed, tally }: ExperimentOptions): string =>
  join(folder, `row-${tally.row.replace(/\W+/g, '-')}-seed-${seed}`)

async function setUp(harness: Harness, hooks: Hooks, options: ExperimentOptions): Promise<TestBed> {
  const { databases } = harness
  const { seed, tally, stationCount = stationCountUsual } = options
  const folder = folderOf(harness, options)
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const random = createRandom(seed)
  const proxy = await startTcpProxy(hooks, databases.questdb.http.port, random)
  const ports: Ports = options.ports ?? [await freePort()]
  const mqttPort = await freePort()
  const service = createServiceProcess(hooks, {
    source: harness.source,
    port: ports[0],
    dataDirectory: join(folder, 'data'),
    environment: {
      ...(options.ownDatabases === true ? {} : settingsFor(databases, proxy.port)),
      ...(options.mqttDevices === undefined ? {} : { MQTT_PORT: String(mqttPort) }),
      ...options.environment,
    },
    words: options.words,
  })
  await service.start(options.firstStart)
  const prefix = `f${process.pid}x${Date.now().toString(36)}x`
  const devices = await service.addDevices(namesOf(prefix, options.devices ?? deviceCount))
  const stations = options.points === true ? await addStationsTo(service, namesOf(prefix, stationCount)) : []
  const targets = { ports, mqttPort, adminToken: service.adminToken() }
  const { load, ledgerPaths } = await startLoads(hooks, targets, folder, { devices, stations }, options)
  const bed: TestBed = {
    ...{ hooks, databases, service, proxy, random, load, tally, folder, devices, stations },
    exempt: new Set(),
    erased: new Map(),
    erasedStations: new Set(),
    clock: options.clock ?? [],
    crashedAt: [],
    ledger: () => bed.ledgers()[0],
    ledgers: () => ledgerPaths.map(readLedger) as ReturnType<TestBed['ledgers']>,
    async kill() {
      bed.noteCrash()
      await service.end('SIGKILL')
    },
    noteCrash() {
      bed.crashedAt.push(Date.now())
      tally.crashes++
    },
    another: async own => createServiceProcess(hooks, { source: harness.source, port: await freePort(), ...own }),
    async untilAcknowledged(count) {
      const before = await service.status()
      const points = before.points.journal.points + Math.min(1, stations.length)
      await until(`${count} more readings are taken`, async () => {
        const now = await service.status()
        return now.journal.readings >= before.journal.readings + count && now.points.journal.points >= points
      })
    },
    async untilTaken() {
      const fromMs = Date.now()
      await until('readings and points are taken', () =>
        bed.ledgers().every(of => of.attempts.some(each => isAcknowledged(each) && each.startMs > fromMs)),
      )
    },
    anyDevice: (without = 1) => random.pick(devices.slice(1, -without)).name,
    async revoke(device, by = service) {
      const { status, body } = await by.admin('POST', `/devices/${device}/rotate?now=1`)
      if (status === 200) load.revoked(device, (body as { password: string }).password, Date.now())
      return status === 200
    },
    async untilRevoked() {
      const device = bed.anyDevice()
      await until('a password can be changed', () => bed.revoke(device))
    },
  }
  return bed
}

const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`)

async function addStationsTo({ adminWhenLet, port }: ServiceProcess, names: readonly string[]): Promise<Login[]> {
  const password = await makeStationKey(`http://127.0.0.1:${port}`, adminWhenLet)
  await addStations(adminWhenLet, names)
  return names.map(name => ({ name, password }))
}
