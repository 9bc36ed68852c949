/** Gauges of a fleet that stand still, by the extremes of its stretches. */

import { noDetails } from '../../analytics/findings/finding.ts'
import { quartersPerDay } from '../../analytics/fleet/day-changes.ts'
import type { StandingRun, StandingRuns } from '../../analytics/fleet/standing-runs.ts'
import { type MetricSettings, type QualityLimits, qualityLimits } from '../../analytics/quality/quality-limits.ts'
import type { Metric } from '../../store/tables.ts'
import type { DeviceFinding } from '../findings/fleet-findings.ts'
import type { FleetGauge, InsightsEntry } from '../insights-fleet.ts'

const hourMs = 3_600_000
const stretchMs = (24 / quartersPerDay) * hourMs
/** As with the findings of a device, a flat line is told from twice its length on. */
const flatTimes = 2

/** `endMs`: of the last stretch. */
export function standingColumns(
  fleet: readonly InsightsEntry[],
  metric: Metric,
  runs: StandingRuns,
  endMs: number,
): DeviceFinding[] {
  return fleet.flatMap(({ name, limits }, place) =>
    findingOf(name, metric, runs.standing(place), limits?.[metric] ?? {}, endMs),
  )
}

/** `from`: where the series of this gauge begin in `runs`. */
export function standingGauges(
  fleet: readonly InsightsEntry[],
  { metric, places }: FleetGauge,
  { runs, from }: { readonly runs: StandingRuns; readonly from: number },
  endMs: number,
): DeviceFinding[] {
  return places.flatMap((place, at) => {
    const run = runs.standing(from + at)
    // Nothing to measure, as of light and of wind.
    if (run === undefined || run.value === 0) return []
    return findingOf((fleet[place] as InsightsEntry).name, metric.name, run, metric.quality ?? {}, endMs)
  })
}

function findingOf(
  device: string,
  metric: string,
  run: StandingRun | undefined,
  settings: MetricSettings,
  endMs: number,
): DeviceFinding[] {
  if (run === undefined) return []
  const { value, stretches } = run
  if (!isTold(value, stretches * stretchMs, settings, qualityLimits(metric, null, settings))) return []
  const severity = stretches > quartersPerDay ? 'critical' : 'warning'
  const sinceMs = endMs - stretches * stretchMs
  return [{ ...noDetails, device, code: 'stuck', severity, metric, sinceMs, value, count: 1 }]
}

function isTold(value: number, lengthMs: number, { flat_hours }: MetricSettings, limits: QualityLimits): boolean {
  const [above, below] = limits.flatWithin
  const isWithin = value > above && value < below
  // Null: no such test.
  return flat_hours !== null && isWithin && lengthMs >= flatTimes * (limits.flatMs ?? 0)
}
