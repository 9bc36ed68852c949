/** Reads the hours of the whole fleet for what they tell of it: 30 stretches of 24 hours that end at the last full hour. */

import { quartersPerDay } from '../../analytics/fleet/day-changes.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { PgRow } from '../../store/questdb/client/questdb-pg.ts'
import type { Metric } from '../../store/tables.ts'
import type { InsightsEntry } from '../insights-fleet.ts'
import { fleetMeansSql, fleetParts, stretchesUntil } from '../questdb/fleet-hours-sql.ts'
import type { OutlierInsight } from '../shapes/insights.ts'
import type { ShardReads } from '../shards/shard-reads.ts'
import type { InsightsQuery } from '../task.ts'
import {
  batteryMetrics,
  buildInsights,
  comparedMetrics,
  comparedQuarters,
  days,
  outliersOf,
} from './insights-answer.ts'
import { MeansTable } from './means-table.ts'

interface Context {
  readonly open: (shard: number) => Pick<ShardReads, 'connection'>
  readonly signal: AbortSignal
  /** Of the service. */
  readonly local: LocalTime
}

const hourUs = 3_600_000_000
const dayUs = 24 * hourUs
/** Of more, each metric is read by itself: the means of one take 600 bytes a device. */
const devicesAtOnceMax = 20_000

export async function answerInsights(
  { narrowed, nowUs, shards }: InsightsQuery,
  fleet: readonly InsightsEntry[],
  context: Context,
): Promise<string> {
  const places = new Map(fleet.map(({ symbol }, place) => [symbol, place]))
  const symbols = narrowed ? [...places.keys()] : undefined
  const endUs = Math.floor(nowUs / hourUs) * hourUs

  /** One statement for each stretch, so that none has to group more than the fleet. */
  async function readMeans(metrics: readonly Metric[], count: number, lengthUs: number): Promise<MeansTable> {
    const table = new MeansTable(fleet.length, count, metrics.length)
    if (fleet.length === 0) return table
    for (const [stretch, range] of stretchesUntil(endUs, lengthUs, count).entries()) {
      const take = (row: PgRow) => {
        const place = places.get(String(row[0]))
        // Of devices that are off or removed.
        if (place === undefined) return
        for (let metric = 0; metric < metrics.length; metric++) {
          table.add(place, stretch, metric, Number(row[1 + 2 * metric] ?? 0), Number(row[2 + 2 * metric]))
        }
      }
      for (const { shard, ...hourSources } of shards) {
        const { connection } = context.open(shard)
        for (const part of fleetParts(range, hourSources)) {
          const statement = { text: fleetMeansSql(metrics, part, symbols), values: [] }
          await connection.read(statement, context.signal, take)
        }
      }
    }
    return table
  }

  const batteries = await readMeans(batteryMetrics, days, dayUs)
  const outliers: OutlierInsight[] = []
  const atOnce = fleet.length > devicesAtOnceMax ? 1 : comparedMetrics.length
  for (let from = 0; from < comparedMetrics.length; from += atOnce) {
    const some = comparedMetrics.slice(from, from + atOnce)
    const table = await readMeans(some, comparedQuarters, dayUs / quartersPerDay)
    for (const [place, metric] of some.entries()) outliers.push(...outliersOf(fleet, metric, table, place))
  }
  return JSON.stringify(
    buildInsights({ fleet, batteries, outliers, generatedAtMs: nowUs / 1000, local: context.local }),
  )
}
