/**
 * Row 21: a device, a station or a metric of a device is erased with its rows. The service dies or restarts meanwhile, and no row
 * returns.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type {
  EraseReport,
  MetricEraseReport,
  StationEraseReport,
} from '../../../service/lifecycle/erasure/erase-records.ts'
import { serverPid, until } from '../../support/processes.ts'
import { eachCycle, type TestBed } from '../experiment.ts'
import { erasedMetric } from '../identity.ts'
import { type ErasePoint, erasePoints, type FaultRows, injecting } from '../injection/settings.ts'
import type { LoadOptions } from '../loads.ts'

const aftermaths = ['killed at once', 'killed after a rest', 'stopped', 'replayed'] as const
type Aftermath = (typeof aftermaths)[number]

const restMs = 1500

/** The subjects of consecutive erases. */
interface Victims {
  rows: FaultRows
  names: string[]
  request(name: string): Promise<void>
  /** Resolves when the report shows completion. From then on no row may be readable. */
  untilErased(name: string): Promise<void>
}

const ofReadings = { devices: 20, importEveryMs: 700 }
const kinds: readonly { load: Partial<LoadOptions>; victimsOf: (bed: TestBed) => Victims }[] = [
  { load: ofReadings, victimsOf: metricsOf },
  { load: ofReadings, victimsOf: devicesOf },
  { load: { devices: 5, points: true, stationCount: 14 }, victimsOf: stationsOf },
]

const unsynced = { ownDatabases: true, environment: { QUESTDB_COMMIT_MODE: 'nosync' } }
const kindOf = (cycle: number) => kinds[Math.floor(cycle / 2) % kinds.length] as (typeof kinds)[number]
const isSynced = (cycle: number) => cycle % 2 === 0

/**
 * Two metrics, two devices and two stations, alternately with and without syncs in QuestDB. Without syncs, each start resends all
 * retained rows.
 */
export const eraseSeries = eachCycle(
  cycle => ({ ...kindOf(cycle).load, ...(isSynced(cycle) ? {} : unsynced) }),
  async (bed, cycle) => {
    await bed.untilAcknowledged(500)
    const victims = kindOf(cycle).victimsOf(bed)
    const next = () => victims.names.shift() ?? ''
    for (const point of erasePoints) await dieWhileErasing(bed, victims, next(), point)
    await bed.untilAcknowledged(100)
    await bed.load.stop()
    const isPossible = (aftermath: Aftermath) => aftermath !== 'replayed' || !isSynced(cycle)
    for (const aftermath of aftermaths.filter(isPossible)) await eraseThen(bed, victims, next(), aftermath)
    await eraseThen(bed, victims, victims.names.at(-1) ?? '', 'stopped')
  },
)

/** One device and one station without load, with a QuestDB that does not sync. */
export const eraseUnsynced = eachCycle({ devices: 5, points: true, ...unsynced }, async bed => {
  await bed.untilAcknowledged(100)
  await bed.load.stop()
  for (const victims of [devicesOf(bed), stationsOf(bed)]) {
    await eraseThen(bed, victims, victims.names[1] ?? '', 'stopped')
  }
})

/** The first device is busy, and the last one receives the imports. */
export function devicesOf({ service, devices, erased }: TestBed): Victims {
  return {
    rows: 'readings',
    names: devices.slice(1).map(({ name }) => name),
    request: name => expectStatus(202, service, 'POST', `/devices/${name}/erase`),
    async untilErased(name) {
      const { symbols } = await reportOf<EraseReport>(service, `/devices/${name}/erase`)
      for (const symbol of symbols) erased.set(symbol, name)
    },
  }
}

function stationsOf({ service, stations, erasedStations }: TestBed): Victims {
  return {
    rows: 'points',
    names: stations.slice(1).map(({ name }) => name),
    request: name => expectStatus(204, service, 'DELETE', `/stations/${name}`),
    async untilErased(name) {
      await reportOf<StationEraseReport>(service, `/stations/${name}/erase`)
      erasedStations.add(name)
    },
  }
}

/** Metrics of one device after the other. Later values belong to a new series and remain. */
function metricsOf({ service, devices }: TestBed): Victims {
  const pathOf = (name: string) => `/devices/${name}/metrics/${erasedMetric}`
  return {
    rows: 'readings',
    names: devices.slice(1).map(({ name }) => name),
    request: name => expectStatus(202, service, 'DELETE', pathOf(name)),
    untilErased: async name => void (await reportOf<MetricEraseReport>(service, pathOf(name))),
  }
}

async function expectStatus(
  expected: number,
  { admin }: TestBed['service'],
  method: string,
  path: string,
): Promise<void> {
  let status = 0
  // Status 503 rejects the request while processes restart.
  await until(`${method} ${path} is carried out`, async () => {
    status = (await admin(method, path)).status
    return status !== 503
  })
  if (status !== expected) throw new Error(`${method} ${path} is answered ${status}`)
}

async function reportOf<Report extends Pick<EraseReport, 'state'>>(
  { admin }: TestBed['service'],
  path: string,
): Promise<Report> {
  let report: Report | undefined
  await until(`${path} says that it is done`, async () => {
    const { status, body } = await admin('GET', path)
    if (status === 200) report = body as Report
    if (report?.state !== 'done') await sleep(50)
    return report?.state === 'done'
  })
  return report as Report
}

async function eraseThen(bed: TestBed, victims: Victims, name: string, aftermath: Aftermath): Promise<void> {
  const { service } = bed
  await untilShown(bed)
  await victims.request(name)
  await victims.untilErased(name)
  if (aftermath === 'killed after a rest') await sleep(restMs)
  if (aftermath === 'replayed') {
    process.kill(serverPid({ path: service.dataDirectory }, 'questdb'), 'SIGKILL')
    bed.tally.crashes++
    await until('replaying the journal', () => service.output().includes('replaying the journal'))
  } else {
    if (aftermath === 'stopped') await service.end('SIGTERM')
    else await bed.kill()
    await service.start()
  }
  await untilShown(bed)
}

/** The service runs before and after it. */
async function dieWhileErasing(bed: TestBed, victims: Victims, name: string, point: ErasePoint): Promise<void> {
  const { service } = bed
  await service.end('SIGTERM')
  await service.start(injecting({ FAIL_POINT: `${point}:1`, FAIL_ROWS: victims.rows }))
  await untilShown(bed)
  // The service may die before it answers.
  await victims.request(name).catch(() => undefined)
  await service.ended(`a death at ${point}`)
  bed.noteCrash()
  await service.start()
  await victims.untilErased(name)
}

/** Waits until QuestDB runs and has applied all rows sent so far, or resent after a start. */
async function untilShown({ service }: TestBed): Promise<void> {
  await until('QuestDB is up', async () => (await service.status()).questdb.state === 'up')
  await sleep(restMs)
}
