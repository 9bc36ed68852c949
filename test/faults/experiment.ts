/**
 * One experiment: a service on a data directory of its own, a load, whatever a row of the matrix does to them, and then
 * the judgement by two routes, when all is quiet and everything that was taken is applied.
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

/** What there is before any server runs. */
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
  /** Of the service, and of others beside it that take the load as well; by default it is alone. */
  ports?: Ports
  /** With databases of its own instead of the shared ones. */
  ownDatabases?: boolean
  /** What the clock of the service says, where it is wrong on purpose; a row may add to it. */
  clock?: ClockPeriod[]
  firstStart?: Record<string, string>
}

/** The options that a row itself gives. */
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
  /** Devices whose erase was reported as done, by their symbols. */
  erased: Map<string, string>
  stations: Login[]
  /** Those whose erase was reported as done. */
  erasedStations: Set<string>
  /** What the clock of the service said; empty where it was right. */
  clock: ClockPeriod[]
  /** When the service has ended without being stopped. */
  crashedAt: number[]
  ledger(): Ledger
  ledgers(): [ofReadings: Ledger, ...ofPoints: Ledger[]]
  /** SIGKILL to the service; its recovery is timed. */
  kill(): Promise<void>
  noteCrash(): void
  /** Another process of the service, by default with a port of its own. */
  another(options: Omit<ServiceOptions, 'source' | 'port'> & { port?: number }): Promise<ServiceProcess>
  /** Waits until so many more readings are taken, and a point where there are any. */
  untilAcknowledged(count: number): Promise<void>
  /** Waits until a reading, and a point where there are any, is taken that was sent from now on. */
  untilTaken(): Promise<void>
  /** Any device but the first, which is busy, and the last ones: by default the one of the imports. */
  anyDevice(without?: number): string
  /** Changes the device's password, at once; false if that is not possible now. `by` the service, or another one beside it. */
  revoke(device: string, by?: ServiceProcess): Promise<boolean>
  /** A revocation that returned holds, whatever happens around it. */
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

/** A row of which each cycle is an experiment. */
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

/** A row of which ten cycles are in each experiment, behind which everything is judged. */
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
