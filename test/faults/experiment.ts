/**
 * One experiment: a service on a data directory of its own, a load, whatever a row of the matrix does to them, and then
 * the judgement by two routes, when all is quiet and everything that was taken is applied.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDataDirectory } from '../../store/data-directory.ts'
import { freePort } from '../../store/process/free-port.ts'
import { openStore } from '../../store/store.ts'
import { storeOptions } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { shownLater } from './clock-periods.ts'
import { type Databases, settingsFor } from './databases.ts'
import { createHooks, type Hooks } from './hooks.ts'
import { type Ledger, readLedger } from './ledger.ts'
import { type LoadProcess, startLoadProcess } from './load-process.ts'
import { type JudgeOptions, judge, type StoredRow, type Verdict, violationCount, violationNames } from './oracle.ts'
import { readPublic } from './public-route.ts'
import { openQuestdbSql, type QuestdbSql, readHours, readStored, untilApplied } from './questdb-sql.ts'
import { createRandom, type Random } from './seeded-random.ts'
import { createServiceProcess, type ServiceProcess } from './service-process.ts'
import { addVerdict, addViolations, type Tally } from './tally.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export interface Harness {
  databases: Databases
  /** Everything that an experiment leaves behind is in here. */
  folder: string
  /** The source that the service runs from. */
  source: string
  say(line: string): void
}

export interface ExperimentOptions {
  seed: number
  tally: Tally
  devices?: number
  busyDevices?: number
  perSecond?: number
  importEveryMs?: number
  importReadings?: number
  importsMax?: number
  environment?: Record<string, string>
  /** How many files the service may have open, and each of its databases. */
  filesMax?: number
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
  ledger(): Ledger
  /** SIGKILL to the service; its recovery is timed. */
  kill(): Promise<void>
  /** Something that ended the service by itself. */
  noteCrash(): void
  /** Waits until so many more readings are taken. */
  untilAcknowledged(count: number): Promise<void>
  /** Changes the device's password, at once, if that is possible now. */
  revoke(device: string): Promise<void>
  /** Those that have returned. */
  revocations(): number
}

const deviceCount = 40
/** Two processes, one clock. */
const stampToleranceMs = 5

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
    return await conclude(harness, bed, options)
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
  const service = createServiceProcess(hooks, {
    source: harness.source,
    port: await freePort(),
    dataDirectory: join(folder, 'data'),
    environment: {
      ...(options.ownDatabases === true ? {} : settingsFor(databases, proxy.port)),
      ...options.environment,
    },
    filesMax: options.filesMax,
  })
  await service.start(options.firstStart)
  const prefix = `f${process.pid}x${Date.now().toString(36)}x`
  const devices = await addDevices(service, prefix, options.devices ?? deviceCount)
  const ledgerPath = join(folder, 'ledger')
  const load = await startLoadProcess(hooks, {
    port: service.port,
    ...{ seed, ledgerPath, firstSequence: 1, devices },
    busyDevices: options.busyDevices ?? 1,
    perSecond: options.perSecond ?? 400,
    adminToken: options.importEveryMs === undefined ? undefined : service.adminToken(),
    importEveryMs: options.importEveryMs ?? 0,
    importReadings: options.importReadings ?? 500,
    importsMax: options.importsMax ?? Number.MAX_SAFE_INTEGER,
  })
  const crashedAt: number[] = []
  let revocations = 0
  const bed: TestBed = {
    ...{
      hooks,
      databases,
      service,
      proxy,
      random,
      load,
      tally,
      folder,
      devices,
      exempt: new Set(),
      erased: new Map(),
    },
    ledger: () => readLedger(ledgerPath),
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
      const taken = async () => (await service.status()).journal.readings
      const before = await taken()
      await until(`${count} more readings are taken`, async () => (await taken()) >= before + count)
    },
    async revoke(device) {
      const { status, body } = await service.admin('POST', `/devices/${device}/rotate?now=1`)
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
  const { status, body } = await service.admin('POST', '/devices', wanted)
  if (status !== 201) throw new Error(`no devices were made: ${status} ${JSON.stringify(body)}`)
  return (body as { device: string; password: string }[]).map(({ device, password }) => ({ name: device, password }))
}

/** Waits until all that was taken can be read, reads it twice, and judges. */
async function conclude(harness: Harness, bed: TestBed, options: ExperimentOptions): Promise<Verdict> {
  const { service, tally } = bed
  const ledger = bed.ledger()
  await until('the backlog is drained', async () => (await service.status()).lag.readings === 0)
  const erased = new Set(bed.erased.values())
  const names = await symbolsOf(service, ledger, bed.erased)
  const visible = await readPublic(service.port, ledger, erased, options.judging?.clock)
  const stored = await readAll(bed, names, options)
  const judging: JudgeOptions = { stampToleranceMs, exempt: bed.exempt, erased, ...options.judging }
  const verdict = judge(ledger, stored, judging)
  const later = shownLater(ledger.attempts, judging.clock ?? [])
  const seen = judge(ledger, visible, { ...judging, exempt: bed.exempt.union(later) })
  addVerdict(tally, verdict)
  addViolations(tally, seen)
  noteRecoveries(bed, ledger)
  const wrong = violationCount(verdict) + violationCount(seen)
  if (wrong > 0) reportViolations(harness, bed, options, [verdict, seen])
  return wrong > 0 && violationCount(verdict) === 0 ? seen : verdict
}

async function symbolsOf(
  service: ServiceProcess,
  { attempts }: Ledger,
  erased: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const names = new Map(erased)
  const known = new Set(erased.values())
  for (const device of new Set(attempts.map(attempt => attempt.device)).difference(known)) {
    const { body } = await service.admin('GET', `/devices/${device}`)
    names.set((body as { symbol: string }).symbol, device)
  }
  return names
}

async function readAll(bed: TestBed, names: Map<string, string>, options: ExperimentOptions): Promise<StoredRow[]> {
  const { service, databases, hooks } = bed
  if (options.ownDatabases !== true) {
    await untilApplied(databases.sql)
    return await readBoth(databases.sql, names, bed.erased)
  }
  await service.end('SIGTERM')
  const directory = openDataDirectory(service.dataDirectory)
  hooks.teardown(() => directory.close())
  const store = await openStore(storeOptions(directory))
  hooks.teardown(() => store.close())
  await store.questdb.ready
  const sql = openQuestdbSql(store.questdb.address)
  await untilApplied(sql)
  return await readBoth(sql, names, bed.erased)
}

/** The readings, and what the hourly view has of erased ones. */
async function readBoth(
  sql: QuestdbSql,
  names: ReadonlyMap<string, string>,
  erased: ReadonlyMap<string, string>,
): Promise<StoredRow[]> {
  return [...(await readStored(sql, names)), ...(await readHours(sql, erased))]
}

/** From each crash to the first attempt after it that got its 200. */
function noteRecoveries(bed: TestBed, { attempts }: Ledger): void {
  for (const crashedAt of crashTimes.get(bed) ?? []) {
    let firstMs = Number.POSITIVE_INFINITY
    for (const { startMs, endMs, status } of attempts) {
      if (status === 200 && startMs > crashedAt && endMs !== undefined && endMs < firstMs) firstMs = endMs
    }
    if (firstMs < Number.POSITIVE_INFINITY) bed.tally.recoveriesMs.push(firstMs - crashedAt)
  }
}

function reportViolations(harness: Harness, bed: TestBed, { seed }: ExperimentOptions, verdicts: Verdict[]): void {
  harness.say(`row ${bed.tally.row}, seed ${seed}: NOT CLEAN; ledger and data are kept in ${bed.folder}`)
  for (const [index, { violations }] of verdicts.entries()) {
    for (const name of violationNames) {
      const route = index === 0 ? 'by SQL' : 'by the API'
      for (const text of violations[name].slice(0, 3))
        harness.say(`  ${name} (${route}, ${violations[name].length}): ${text}`)
    }
  }
}
