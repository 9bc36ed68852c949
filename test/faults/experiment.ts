/**
 * One experiment: a service on a data directory of its own, a load, whatever a row of the matrix does to them, and then
 * the judgement by two routes, when all is quiet and everything that was taken is applied.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../store/process/free-port.ts'
import { until } from '../support/processes.ts'
import type { FaultKafka } from './cluster/fault-kafka.ts'
import { conclude } from './conclusion.ts'
import { type Databases, settingsFor } from './databases.ts'
import { createHooks, type Hooks } from './hooks.ts'
import { type Ledger, readLedger } from './ledger.ts'
import type { LoadProcess } from './load-process.ts'
import { addStationsFor, firstOf, type LoadOptions, startLoads } from './loads.ts'
import type { JudgeOptions, Verdict } from './oracle.ts'
import type { Ports } from './pipe.ts'
import { createRandom, type Random } from './seeded-random.ts'
import { createServiceProcess, type ServiceProcess } from './service-process.ts'
import type { StationUnderTest } from './station-route.ts'
import type { Tally } from './tally.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** What there is before any server runs. */
export interface Surroundings {
  /** Everything that an experiment leaves behind is in here. */
  folder: string
  /** The source that the service runs from. */
  source: string
  say(line: string): void
}

export interface Harness extends Surroundings {
  databases: Databases
  /** Where topics are the journals. */
  kafka?: FaultKafka
}

export interface ExperimentOptions extends LoadOptions {
  tally: Tally
  environment?: Record<string, string>
  /** Of the service's command. */
  words?: readonly string[]
  /** How many files the service may have open, and each of its databases. */
  filesMax?: number
  /** Of the service, and of others beside it that take the load as well; by default it is alone. */
  ports?: Ports
  /** With databases of its own instead of the shared ones. */
  ownDatabases?: boolean
  judging?: JudgeOptions
  /** Of the first start. */
  firstStart?: Record<string, string>
}

export interface TestBed {
  hooks: Hooks
  databases: Databases
  service: ServiceProcess
  proxy: TcpProxy
  random: Random
  load: LoadProcess
  tally: Tally
  folder: string
  devices: { name: string; password: string }[]
  /** Acknowledged readings that are damaged on purpose. */
  exempt: Set<number>
  /** Devices whose erase was reported as done, by their symbols. */
  erased: Map<string, string>
  /** None where no points are sent. */
  stations: StationUnderTest[]
  /** Those whose erase was reported as done. */
  erasedStations: Set<string>
  /** Of the readings. */
  ledger(): Ledger
  /** One for each kind of traffic. */
  ledgers(): Ledger[]
  /** SIGKILL to the service; its recovery is timed. */
  kill(): Promise<void>
  /** Something that ended the service by itself. */
  noteCrash(): void
  /** Waits until so many more readings are taken, and a point where there are any. */
  untilAcknowledged(count: number): Promise<void>
  /** Changes the device's password, at once, if that is possible now; `by` the service, or another one beside it. */
  revoke(device: string, by?: ServiceProcess): Promise<void>
  /** Those that have returned. */
  revocations(): number
}

const deviceCount = 40

export async function experiment(
  harness: Harness,
  options: ExperimentOptions,
  work: (bed: TestBed) => Promise<void>,
): Promise<Verdict> {
  const hooks = createHooks()
  try {
    const bed = await setUp(harness, hooks, options)
    await work(bed)
    const { halfAnswers } = await bed.load.stop()
    if (halfAnswers > 0) bed.tally.problems.push(`${halfAnswers} answers were cut in the middle`)
    return await conclude(bed, options, crashTimes.get(bed) ?? [], harness.say)
  } catch (error) {
    throw new Error(`seed ${options.seed}, in ${folderOf(harness, options)}`, { cause: error })
  } finally {
    await hooks.undo()
  }
}

const folderOf = ({ folder }: Harness, { seed, tally }: ExperimentOptions): string =>
  join(folder, `row-${tally.row.replace(/\W+/g, '-')}-seed-${seed}`)

async function setUp(harness: Harness, hooks: Hooks, options: ExperimentOptions): Promise<TestBed> {
  const { databases } = harness
  const { seed, tally } = options
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
    filesMax: options.filesMax,
  })
  await service.start(options.firstStart)
  const prefix = `f${process.pid}x${Date.now().toString(36)}x`
  const devices = await addDevices(service, prefix, options.devices ?? deviceCount)
  const stations = await addStationsFor(service, prefix, options)
  const { load, ledgerPaths } = await startLoads(hooks, {
    ports,
    mqttPort,
    adminToken: service.adminToken(),
    folder,
    devices,
    stations,
    options,
  })
  const readLedgers = () => ledgerPaths.map(readLedger)
  const crashedAt: number[] = []
  let revocations = 0
  const bed: TestBed = {
    hooks,
    databases,
    service,
    proxy,
    random,
    load,
    tally,
    folder,
    devices,
    stations,
    exempt: new Set(),
    erased: new Map(),
    erasedStations: new Set(),
    ledger: () => firstOf(readLedgers()),
    ledgers: readLedgers,
    async kill() {
      crashedAt.push(Date.now())
      tally.crashes++
      await service.end('SIGKILL')
    },
    noteCrash() {
      crashedAt.push(Date.now())
      tally.crashes++
    },
    async untilAcknowledged(count) {
      const before = await service.status()
      const points = before.points.journal.points + Math.min(1, stations.length)
      await until(`${count} more readings are taken`, async () => {
        const now = await service.status()
        return now.journal.readings >= before.journal.readings + count && now.points.journal.points >= points
      })
    },
    async revoke(device, by = service) {
      const { status, body } = await by.admin('POST', `/devices/${device}/rotate?now=1`)
      if (status !== 200) return
      revocations++
      load.revoked(device, (body as { password: string }).password, Date.now())
    },
    revocations: () => revocations,
  }
  crashTimes.set(bed, crashedAt)
  return bed
}

const crashTimes = new WeakMap<TestBed, number[]>()

async function addDevices(service: ServiceProcess, prefix: string, count: number): Promise<TestBed['devices']> {
  const wanted = Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}` }))
  const { status, body } = await service.adminWhenLet('POST', '/devices', wanted)
  if (status !== 201) throw new Error(`no devices were made: ${status} ${JSON.stringify(body)}`)
  return (body as { device: string; password: string }[]).map(({ device, password }) => ({ name: device, password }))
}
