/** Gauges of a fleet that stand still, found by the extremes of its stretches. */

import { noDetails } from '../../analytics/findings/finding.ts'
import { quartersPerDay } from '../../analytics/fleet/day-changes.ts'
import type { StandingRun, StandingRuns } from '../../analytics/fleet/standing-runs.ts'
import { type MetricSettings, type QualityLimits, qualityLimits } from '../../analytics/quality/quality-limits.ts'
import type { Metric } from '../../store/tables.ts'
import type { DeviceFinding } from '../findings/fleet-findings.ts'
import type { FleetGauge, InsightsEntry } from '../insights-fleet.ts'

const hourMs = 3_600_000
const stretchMs = (24 / quartersPerDay) * hourMs
/** A flat line is reported from twice its limit on, as in the findings of a device. */
const flatTimes = 2

/** `endMs` is the end of the last stretch. */
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

/** The series of this gauge begin at `from` in `runs`. */
export function standingGauges(
  fleet: readonly InsightsEntry[],
  { metric, places }: FleetGauge,
  { runs, from }: { readonly runs: StandingRuns; readonly from: number },
  endMs: number,
): DeviceFinding[] {
  return places.flatMap((place, at) => {
    const run = runs.standing(from + at)
    // A zero may mean that there is nothing to measure: no light, no wind.
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
  if (!isReported(value, stretches * stretchMs, settings, qualityLimits(metric, null, settings))) return []
  const severity = stretches > quartersPerDay ? 'critical' : 'warning'
  const sinceMs = endMs - stretches * stretchMs
  return [{ ...noDetails, device, code: 'stuck', severity, metric, sinceMs, value, count: 1 }]
}

function isReported(value: number, lengthMs: number, { flat_hours }: MetricSettings, limits: QualityLimits): boolean {
  const [above, below] = limits.flatWithin
  const isWithin = value > above && value < below
  // Null disables the test.
  return flat_hours !== null && isWithin && lengthMs >= flatTimes * (limits.flatMs ?? 0)
}
