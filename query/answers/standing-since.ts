/** Since when gauges of a fleet have stood, by their readings: the stretches by which they are found tell it to six hours. */

import { rankFindings } from '../../analytics/findings/rank.ts'
import { quartersPerDay } from '../../analytics/fleet/day-changes.ts'
import { metrics } from '../../store/tables.ts'
import type { DeviceFinding } from '../findings/fleet-findings.ts'
import type { InsightsEntry } from '../insights-fleet.ts'
import { readingsOfDeviceSql, valuesOfSeriesSql } from '../questdb/standing-sql.ts'
import type { InsightsQuery } from '../task.ts'
import type { FleetReadsContext } from './fleet-reads.ts'

const stretchMs = 86_400_000 / quartersPerDay

/** Of those that may be listed; each takes one statement for each QuestDB, of the readings of twelve hours. */
export async function sinceReadings(
  found: readonly DeviceFinding[],
  fleet: readonly InsightsEntry[],
  { known, shards }: Pick<InsightsQuery, 'known' | 'shards'>,
  { open, signal }: FleetReadsContext,
): Promise<DeviceFinding[]> {
  const listed = new Set(rankFindings(found))
  const placeOf = new Map(fleet.map(({ name }, place) => [name, place]))
  const exact: DeviceFinding[] = []
  for (const finding of found) {
    const sinceMs = listed.has(finding) ? await sinceOf(finding, placeOf.get(finding.device)) : undefined
    exact.push(sinceMs === undefined ? finding : { ...finding, sinceMs })
  }
  return exact

  async function sinceOf({ metric, sinceMs, value }: DeviceFinding, place: number | undefined) {
    const text = textOf(metric, place, { fromUs: 1000 * (sinceMs - stretchMs), toUs: 1000 * (sinceMs + stretchMs) })
    if (text === undefined) return undefined
    let otherUs = 0
    const sameUs: number[] = []
    for (const { shard } of shards) {
      await open(shard).connection.read({ text, values: [] }, signal, ([timeUs, read]) => {
        if (Number(read) === value) sameUs.push(Number(timeUs))
        else otherUs = Math.max(otherUs, Number(timeUs))
      })
    }
    const firstUs = sameUs.reduce(
      (first, timeUs) => (timeUs > otherUs ? Math.min(first, timeUs) : first),
      Number.POSITIVE_INFINITY,
    )
    return Number.isFinite(firstUs) ? firstUs / 1000 : undefined
  }

  function textOf(metric: string | null, place: number | undefined, range: { fromUs: number; toUs: number }) {
    const entry = place === undefined ? undefined : fleet[place]
    if (entry === undefined || place === undefined) return undefined
    const column = metrics.find(name => name === metric)
    if (column !== undefined) return readingsOfDeviceSql(entry.symbol, column, range)
    const gauge = known.gauges.find(one => one.metric.name === metric)
    const series = gauge?.series[gauge.places.indexOf(place)]
    return series === undefined ? undefined : valuesOfSeriesSql(series, range)
  }
}
