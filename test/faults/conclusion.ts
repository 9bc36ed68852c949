/** The end of an experiment: once all is applied, the rows in each replica and in the API of each node are judged. */

import { postgresUrl } from '../../cli/demo/cluster/database-settings.ts'
import { openDataDirectory } from '../../store/data-directory.ts'
import { openStore } from '../../store/store.ts'
import { storeOptions } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { shownLater } from './clock.ts'
import { type ErasedSeries, nameOfErased, readCustomSeries, readErasedSeries, withCustom } from './custom-values.ts'
import type { ExperimentOptions, TestBed } from './experiment.ts'
import { pointIdentity } from './identity.ts'
import type { Ledger } from './ledger.ts'
import { type JudgeOptions, judge, type StoredRow, type Verdict, violationCount, violationNames } from './oracle.ts'
import { readPublic, readPublicPoints, readSeriesNames, stationOf } from './public-route.ts'
import {
  differencesOf,
  openQuestdbSql,
  type QuestdbSql,
  readHours,
  readStored,
  readStoredPoints,
  untilApplied,
} from './questdb-sql.ts'
import type { ServiceProcess } from './service-process.ts'
import { addVerdicts } from './tally.ts'

/** Two processes read the same clock. */
const stampToleranceMs = 5

/** Waits until all acknowledged rows are readable, reads them through both routes, and judges. */
export async function conclude(bed: TestBed, options: ExperimentOptions, say: (line: string) => void): Promise<void> {
  const { service, tally } = bed
  const [ledger, pointsLedger] = bed.ledgers()
  await until('the backlog is drained', async () => {
    const { lag, points } = await service.status()
    return lag.readings === 0 && points.lag.points === 0
  })
  const erased = new Set(bed.erased.values())
  const names = await symbolsOf(service, ledger, bed.erased)
  const askedMs = Date.now()
  const visible: Visible[] = []
  for (const port of options.ports ?? [service.port]) {
    const readings = await readPublic(port, ledger, erased, bed.clock)
    visible.push({ readings, points: await readPublicPoints(port, bed.stations, bed.erasedStations) })
  }
  const databases = await openDatabases(bed, options)
  for (const sql of databases.replicas) await untilApplied(sql)
  const ofMetrics = await readErasedSeries(databases.postgresUrl, [...names.values()])
  const judging: JudgeOptions = {
    stampToleranceMs,
    exempt: bed.exempt,
    erased: erased.union(new Set(ofMetrics.map(nameOfErased))),
    erasedUntilMs: doneMsOf(ofMetrics),
    ...(bed.clock.length > 0 && { clock: bed.clock }),
  }
  const verdicts: ReplicaVerdict[] = []
  for (const [at, sql] of databases.replicas.entries()) {
    const rows = await readBoth({ sql, postgresUrl: databases.postgresUrl }, names, bed.erased, ofMetrics)
    verdicts.push({ rows: 'readings', route: `SQL of replica ${at + 1}`, verdict: judge(ledger, rows, judging) })
  }
  const later = shownLater(ledger.attempts, bed.clock, askedMs + (bed.clock.at(-1)?.offsetMs ?? 0))
  for (const [at, { readings }] of visible.entries()) {
    const seen = judge(ledger, readings, { ...judging, exempt: bed.exempt.union(later) })
    verdicts.push({ rows: 'readings', route: `API ${at + 1}`, verdict: seen })
  }
  if (pointsLedger !== undefined) verdicts.push(...(await judgePoints(bed, pointsLedger, databases, visible)))
  const [one, other] = databases.replicas
  if (one !== undefined && other !== undefined) tally.problems.push(...(await differencesOf(one, other)))
  noteRecoveries(bed, ledger)
  for (const ofRows of Map.groupBy(verdicts, ({ rows }) => rows).values()) {
    addVerdicts(
      tally,
      ofRows.map(({ verdict }) => verdict),
    )
  }
  reportViolations(bed, options, verdicts, say)
}

async function judgePoints(
  { stations, erasedStations, tally }: TestBed,
  ledger: Ledger,
  { postgresUrl, replicas }: OpenDatabases,
  visible: readonly Visible[],
): Promise<ReplicaVerdict[]> {
  const series = await readSeriesNames(postgresUrl, stations)
  const erasedSeries = [...series.values()].filter(name => erasedStations.has(stationOf(name)))
  const judging: JudgeOptions = { identity: pointIdentity, erased: new Set(erasedSeries) }
  const stored = await Promise.all(replicas.map(sql => readStoredPoints(sql, series)))
  const verdictOf = (rows: StoredRow[], route: string): ReplicaVerdict => {
    return { rows: 'points', route, verdict: judge(ledger, rows, judging) }
  }
  const verdicts = [
    ...stored.map((rows, at) => verdictOf(rows, `SQL of replica ${at + 1}`)),
    ...visible.map(({ points }, at) => verdictOf(points, `API ${at + 1}`)),
  ]
  const acknowledged = verdicts[0]?.verdict.acknowledged ?? 0
  tally.notes.push(`${acknowledged} points were acknowledged`)
  if (acknowledged === 0) tally.problems.push('no point was acknowledged')
  return verdicts
}

/** The rows shown by one node. */
interface Visible {
  readings: StoredRow[]
  points: StoredRow[]
}

interface ReplicaVerdict {
  rows: 'readings' | 'points'
  route: string
  verdict: Verdict
}

async function symbolsOf(
  service: ServiceProcess,
  { attempts }: Ledger,
  erased: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const names = new Map(erased)
  const known = new Set(erased.values())
  for (const device of new Set(attempts.map(attempt => attempt.device)).difference(known)) {
    const { body } = await service.adminWhenLet('GET', `/devices/${device}`)
    names.set((body as { symbol: string }).symbol, device)
  }
  return names
}

interface OpenDatabases {
  replicas: QuestdbSql[]
  postgresUrl: string
}

/** Connects without the service, which has stopped if it manages its own databases. */
async function openDatabases(
  { service, databases, hooks }: TestBed,
  options: ExperimentOptions,
): Promise<OpenDatabases> {
  if (options.ownDatabases !== true) {
    const { sql, postgresUrl, second } = databases
    return { replicas: second === undefined ? [sql] : [sql, second.sql], postgresUrl }
  }
  await service.end('SIGTERM')
  const directory = openDataDirectory(service.dataDirectory)
  hooks.teardown(() => directory.close())
  const store = await openStore(storeOptions(directory))
  hooks.teardown(() => store.close())
  await store.questdb.ready
  return { replicas: [openQuestdbSql(store.questdb.address)], postgresUrl: postgresUrl(store.postgres) }
}

/** The readings with all of their values, and the rows of erased devices in the hourly view. */
async function readBoth(
  { sql, postgresUrl }: { sql: QuestdbSql; postgresUrl: string },
  names: ReadonlyMap<string, string>,
  erased: ReadonlyMap<string, string>,
  ofMetrics: readonly ErasedSeries[],
): Promise<StoredRow[]> {
  const series = await readCustomSeries(postgresUrl, names)
  for (const one of ofMetrics) {
    for (const number of one.numbers) series.set(number, { device: nameOfErased(one), metric: one.metric })
  }
  const stored = await withCustom(await readStored(sql, names), sql, series)
  return [...stored, ...(await readHours(sql, erased))].sort((a, b) => (a.timeUs ?? 0) - (b.timeUs ?? 0))
}

/** Each metric of a device is erased once. */
function doneMsOf(ofMetrics: readonly ErasedSeries[]): NonNullable<JudgeOptions['erasedUntilMs']> {
  const doneMs = new Map(ofMetrics.map(one => [nameOfErased(one), one.doneMs]))
  return (device, metric) => doneMs.get(nameOfErased({ device, metric }))
}

/** Measures from each crash to the first later attempt with status 200. */
function noteRecoveries({ tally, crashedAt: crashTimes }: TestBed, { attempts }: Ledger): void {
  for (const crashedAt of crashTimes) {
    let firstMs = Number.POSITIVE_INFINITY
    for (const { startMs, endMs, status } of attempts) {
      if (status === 200 && startMs > crashedAt && endMs !== undefined && endMs < firstMs) firstMs = endMs
    }
    if (firstMs < Number.POSITIVE_INFINITY) tally.recoveriesMs.push(firstMs - crashedAt)
  }
}

function reportViolations(
  bed: TestBed,
  { seed }: ExperimentOptions,
  verdicts: readonly ReplicaVerdict[],
  say: (line: string) => void,
): void {
  const found = verdicts.filter(({ verdict }) => violationCount(verdict) > 0)
  if (found.length === 0) return
  say(`row ${bed.tally.row}, seed ${seed}: NOT CLEAN; ledger and data are kept in ${bed.folder}`)
  for (const { rows, route, verdict } of found) {
    for (const name of violationNames) {
      const texts = verdict.violations[name]
      for (const text of texts.slice(0, 3)) say(`  ${rows}: ${name} (${route}, ${texts.length}): ${text}`)
    }
  }
}
