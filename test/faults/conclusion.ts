/** The end of an experiment: what is stored, read by two routes when all is quiet, and judged. */

import { postgresUrl } from '../../cli/demo/cluster/database-settings.ts'
import { openDataDirectory } from '../../store/data-directory.ts'
import { openStore } from '../../store/store.ts'
import { storeOptions } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { shownLater } from './clock.ts'
import type { ExperimentOptions, TestBed } from './experiment.ts'
import { type ErasedSeries, nameOfErased, readErasedSeries, readFurtherSeries, withFurther } from './further-values.ts'
import { pointIdentity } from './identity.ts'
import type { Ledger } from './ledger.ts'
import { type JudgeOptions, judge, type StoredRow, type Verdict, violationCount, violationNames } from './oracle.ts'
import { readPublic, readPublicPoints, readSeriesNames, stationOf } from './public-route.ts'
import {
  openQuestdbSql,
  type QuestdbSql,
  readHours,
  readStored,
  readStoredPoints,
  untilApplied,
} from './questdb-sql.ts'
import type { ServiceProcess } from './service-process.ts'
import { addVerdicts } from './tally.ts'

/** Two processes, one clock. */
const stampToleranceMs = 5

/** Waits until all that was taken can be read, reads it twice, and judges. */
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
  const visible = await readPublic(service.port, ledger, erased, bed.clock)
  const visiblePoints = await readPublicPoints(service.port, bed.stations, bed.erasedStations)
  const databases = await openDatabases(bed, options)
  await untilApplied(databases.sql)
  const ofMetrics = await readErasedSeries(databases.postgresUrl, [...names.values()])
  const judging: JudgeOptions = {
    stampToleranceMs,
    exempt: bed.exempt,
    erased: erased.union(new Set(ofMetrics.map(nameOfErased))),
    erasedUntilMs: doneMsOf(ofMetrics),
    ...(bed.clock.length > 0 && { clock: bed.clock }),
  }
  const verdict = judge(ledger, await readBoth(databases, names, bed.erased, ofMetrics), judging)
  const later = shownLater(ledger.attempts, bed.clock, askedMs + (bed.clock.at(-1)?.offsetMs ?? 0))
  const seen = judge(ledger, visible, { ...judging, exempt: bed.exempt.union(later) })
  const verdicts = [{ stored: verdict, seen, rows: 'readings' }]
  if (pointsLedger !== undefined) {
    const series = await readSeriesNames(databases.postgresUrl, bed.stations)
    const erasedSeries = [...series.values()].filter(name => bed.erasedStations.has(stationOf(name)))
    const ofPoints: JudgeOptions = { identity: pointIdentity, erased: new Set(erasedSeries) }
    const stored = judge(pointsLedger, await readStoredPoints(databases.sql, series), ofPoints)
    tally.notes.push(`${stored.acknowledged} points were acknowledged`)
    if (stored.acknowledged === 0) tally.problems.push('no point was acknowledged')
    verdicts.push({ stored, seen: judge(pointsLedger, visiblePoints, ofPoints), rows: 'points' })
  }
  noteRecoveries(bed, ledger)
  for (const { stored, seen, rows } of verdicts) {
    addVerdicts(tally, stored, seen)
    if (violationCount(stored) + violationCount(seen) > 0) reportViolations(bed, options, rows, [stored, seen], say)
  }
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
  sql: QuestdbSql
  postgresUrl: string
}

/** Past the service, which ends where the databases are its own. */
async function openDatabases(
  { service, databases, hooks }: TestBed,
  options: ExperimentOptions,
): Promise<OpenDatabases> {
  if (options.ownDatabases !== true) {
    const { sql, postgresUrl } = databases
    return { sql, postgresUrl }
  }
  await service.end('SIGTERM')
  const directory = openDataDirectory(service.dataDirectory)
  hooks.teardown(() => directory.close())
  const store = await openStore(storeOptions(directory))
  hooks.teardown(() => store.close())
  await store.questdb.ready
  return { sql: openQuestdbSql(store.questdb.address), postgresUrl: postgresUrl(store.postgres) }
}

/** The readings with all of their values, and the rows of erased ones in the hourly view. */
async function readBoth(
  { sql, postgresUrl }: OpenDatabases,
  names: ReadonlyMap<string, string>,
  erased: ReadonlyMap<string, string>,
  ofMetrics: readonly ErasedSeries[],
): Promise<StoredRow[]> {
  const series = await readFurtherSeries(postgresUrl, names)
  for (const one of ofMetrics) {
    for (const number of one.numbers) series.set(number, { device: nameOfErased(one), metric: one.metric })
  }
  const stored = await withFurther(await readStored(sql, names), sql, series)
  return [...stored, ...(await readHours(sql, erased))].sort((a, b) => (a.timeUs ?? 0) - (b.timeUs ?? 0))
}

/** Each metric of a device is erased once. */
function doneMsOf(ofMetrics: readonly ErasedSeries[]): NonNullable<JudgeOptions['erasedUntilMs']> {
  const doneMs = new Map(ofMetrics.map(one => [nameOfErased(one), one.doneMs]))
  return (device, metric) => doneMs.get(nameOfErased({ device, metric }))
}

/** From each crash to the first attempt after it that got its 200. */
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
  rows: string,
  verdicts: Verdict[],
  say: (line: string) => void,
): void {
  say(`row ${bed.tally.row}, seed ${seed}: NOT CLEAN; ledger and data are kept in ${bed.folder}`)
  for (const [index, { violations }] of verdicts.entries()) {
    for (const name of violationNames) {
      const route = index === 0 ? 'by SQL' : 'by the API'
      for (const text of violations[name].slice(0, 3))
        say(`  ${rows}: ${name} (${route}, ${violations[name].length}): ${text}`)
    }
  }
}
