/**
 * The insights of a fleet, or of some of its devices: computed at most every ten minutes, and served while the next
 * ones are computed.
 */

import { LRUCache } from 'lru-cache'
import { quartersPerDay } from '../analytics/fleet/day-changes.ts'
import { StandingRuns } from '../analytics/fleet/standing-runs.ts'
import type { LocalTime } from '../analytics/time/local-time.ts'
import { batteryMetrics, columnBatteries, type DeviceBattery, gaugeBatteries } from './answers/fleet-batteries.ts'
import { createFleetReads, type FleetReads, type FleetReadsContext, type MeansTable } from './answers/fleet-reads.ts'
import { sinceReadings, standingColumns, standingGauges } from './answers/fleet-standing.ts'
import {
  buildInsights,
  type ComparedMetric,
  comparedMetrics,
  comparedQuarters,
  gaugeOutliersOf,
  isBattery,
  outliersOf,
} from './answers/insights-answer.ts'
import type { Answer } from './cache/body.ts'
import type { Built, Serve } from './cache/response-cache.ts'
import { batteryDays, lastFullHour } from './findings/known-battery.ts'
import { createFleetText, namedInSqlMax } from './fleet.ts'
import {
  encodeInsightsFleet,
  type InsightsDevice,
  type InsightsEntry,
  type InsightsKnown,
  knownOfFleet,
} from './insights-fleet.ts'
import type { QueryLimits } from './limits.ts'
import type { InsightsQuery } from './queries.ts'
import type { HourSources } from './questdb/hourly-sql.ts'
import type { Replicas } from './replicas.ts'
import type { RunQuery } from './run-query.ts'

export interface InsightsOptions {
  readonly runAnalysis: RunQuery
  readonly serve: Serve
  readonly setKey: (devices: readonly InsightsDevice[]) => string
  readonly replicas: Replicas
  readonly known: InsightsKnown
  readonly limits: Pick<
    QueryLimits,
    'insightsMs' | 'insightsStaleMs' | 'insightsDevicesMax' | 'insightsRawDevicesMax' | 'insightsGaugesMax'
  >
}

/** Insights: batteries that run out, outliers, stuck gauges and silent devices. */
export interface Insights {
  all(devices: () => readonly InsightsDevice[]): Answer | Promise<Answer>
  of(devices: readonly InsightsDevice[], client: AbortSignal): Answer | Promise<Answer>
}

interface Wanted {
  readonly key: string
  readonly devices: () => readonly InsightsDevice[]
  readonly fleet: (devices: readonly InsightsDevice[]) => string
  readonly narrowed: boolean
  readonly client?: AbortSignal
}

/** Number of timeouts that are remembered. */
const timedOutMax = 100

export function createInsights(options: InsightsOptions): Insights {
  const { runAnalysis, serve, setKey, replicas, known, limits } = options
  const { insightsMs, insightsStaleMs, insightsDevicesMax, insightsRawDevicesMax, insightsGaugesMax } = limits
  const fleetText = createFleetText(encodeInsightsFleet)
  /** Time of the timeout, by key. */
  const timedOutMs = new LRUCache<string, number>({ max: timedOutMax })

  async function build(
    { key, fleet, narrowed, ...wanted }: Wanted,
    askedAtMs: number,
    signal: AbortSignal,
  ): Promise<Built> {
    const devices = wanted.devices()
    if (devices.length > insightsDevicesMax) return { ok: true, body: 'TOO_LARGE' }
    const nowUs = askedAtMs * 1000
    // The raw readings of 30 days of a large fleet would take too long. Its insights use the view.
    const isSmall = devices.length <= insightsRawDevicesMax
    const hasView = replicas.hourSources().rawFromUs !== Number.NEGATIVE_INFINITY
    if (!isSmall && !hasView) return { ok: false, code: 'DATABASE_AWAY' }
    // A computation that timed out would do so again, and delay the other analyses meanwhile.
    if (Math.abs(askedAtMs - (timedOutMs.get(key) ?? Number.NEGATIVE_INFINITY)) < insightsMs) {
      return { ok: false, code: 'TIMED_OUT' }
    }
    const query = { fleet: fleet(devices), known: knownOfFleet(devices, known, insightsGaugesMax), narrowed, nowUs }
    const queryOf = (sources: HourSources) => {
      const hourSources = isSmall ? sources : { ...sources, rawFromUs: Number.POSITIVE_INFINITY }
      return { ...query, hourSources }
    }
    const built = await runAnalysis('insights', queryOf, signal)
    if (!built.ok && built.code === 'TIMED_OUT') timedOutMs.set(key, askedAtMs)
    return built
  }

  function insights(wanted: Wanted): Answer | Promise<Answer> {
    return serve({
      key: wanted.key,
      // It depends on the moment and on every device.
      version: undefined,
      freshMs: insightsMs,
      staleMs: insightsStaleMs,
      maxAgeSeconds: ageMs => Math.max(0, Math.floor((insightsMs - ageMs) / 1000)),
      build: (askedAtMs, signal) => build(wanted, askedAtMs, signal),
      client: wanted.client,
    })
  }

  return {
    all: devices => insights({ key: 'insights', devices, fleet: fleetText, narrowed: false }),
    of(devices, client) {
      const narrowed = devices.length <= namedInSqlMax
      return insights({
        key: `insights/${setKey(devices)}`,
        devices: () => devices,
        fleet: encodeInsightsFleet,
        narrowed,
        client,
      })
    },
  }
}

interface Context extends FleetReadsContext {
  /** Local time of the service. */
  readonly local: LocalTime
}

const dayUs = 86_400_000_000
const ofDays = { count: batteryDays, lengthUs: dayUs }
const ofQuarters = { count: comparedQuarters, lengthUs: dayUs / quartersPerDay }
/** Larger fleets read one metric at a time: the means of one take 600 bytes a device. */
const devicesAtOnceMax = 20_000

/** Reads the hours of the whole fleet for its insights, by stretches that end at the last full hour. */
export async function answerInsights(
  query: InsightsQuery,
  fleet: readonly InsightsEntry[],
  context: Context,
): Promise<string> {
  const { nowUs, known } = query
  const reads = createFleetReads(query, fleet, context)
  const endMs = lastFullHour(nowUs / 1000)
  const columns = await reads.columns(batteryMetrics, ofDays)
  const batteries = [...columnBatteries(fleet, columns), ...(await readGaugeBatteries(query, fleet, reads))]
  const ofColumns = await compareColumns(fleet, reads, endMs)
  const ofGauges = await compareGauges(query, fleet, reads, endMs)
  const outliers = [...ofColumns.outliers, ...ofGauges.outliers]
  const standing = await sinceReadings([...ofColumns.standing, ...ofGauges.standing], fleet, query, context)
  const generatedAtMs = nowUs / 1000
  return JSON.stringify(
    buildInsights({ fleet, known, batteries, outliers, standing, generatedAtMs, local: context.local }),
  )
}

async function compareColumns(fleet: readonly InsightsEntry[], reads: FleetReads, endMs: number) {
  const found: Compared = { outliers: [], standing: [] }
  const atOnce = fleet.length > devicesAtOnceMax ? 1 : comparedMetrics.length
  for (let from = 0; from < comparedMetrics.length; from += atOnce) {
    const some: readonly ComparedMetric[] = comparedMetrics.slice(from, from + atOnce)
    const runs = some.map(() => new StandingRuns(fleet.length, comparedQuarters))
    const table = await reads.columns(some, ofQuarters, runs)
    for (const [place, metric] of some.entries()) {
      found.outliers.push(...outliersOf(fleet, metric, table, place))
      found.standing.push(...standingColumns(fleet, metric, runs[place] as StandingRuns, endMs))
    }
  }
  return found
}

type Compared = { outliers: ReturnType<typeof outliersOf>; standing: ReturnType<typeof standingColumns> }

/** Compares all gauges with one statement for each stretch. */
async function compareGauges(
  { known }: InsightsQuery,
  fleet: readonly InsightsEntry[],
  reads: FleetReads,
  endMs: number,
): Promise<Compared> {
  const found: Compared = { outliers: [], standing: [] }
  const gauges = known.gauges.filter(({ metric }) => !isBattery(metric))
  const series = gauges.flatMap(one => one.series)
  const runs = new StandingRuns(series.length, comparedQuarters)
  const table = await reads.series(series, ofQuarters, runs)
  let from = 0
  for (const gauge of gauges) {
    found.outliers.push(...gaugeOutliersOf(fleet, gauge, table, from))
    found.standing.push(...standingGauges(fleet, gauge, { runs, from }, endMs))
    from += gauge.series.length
  }
  return found
}

async function readGaugeBatteries(
  { known }: InsightsQuery,
  fleet: readonly InsightsEntry[],
  reads: FleetReads,
): Promise<DeviceBattery[]> {
  const gauges = known.gauges.filter(({ metric }) => isBattery(metric))
  const series = gauges.flatMap(one => one.series)
  const table: MeansTable = await reads.series(series, ofDays)
  let from = 0
  return gauges.flatMap(gauge => {
    const found = gaugeBatteries(fleet, gauge, table, from)
    from += gauge.series.length
    return found
  })
}
