/** Suspect readings of the last 24 hours, from the answer for the day. */

import type { TimeWindow } from '../../charts/range.ts'
import { dayMs } from '../../text/zone.ts'
import { type Detail, pointsOf } from './answers.ts'

export interface SuspectReadings {
  /** Ascending, in milliseconds since 1970. */
  readonly timesMs: readonly number[]
  readonly values: readonly number[]
}

/** By metric. */
export type Suspects = ReadonlyMap<string, SuspectReadings>

/** Empty where the window begins before the tested hours: a part would look complete. */
export function suspectsIn(
  detail: Detail | undefined,
  gauges: readonly string[],
  { fromMs, toMs }: TimeWindow,
  nowMs: number,
): Suspects {
  const found = new Map<string, SuspectReadings>()
  if (detail === undefined || fromMs < nowMs - dayMs) return found
  for (const metric of gauges) {
    const points = pointsOf(detail, metric).filter(point => 'flag' in point && point.t >= fromMs && point.t <= toMs)
    if (points.length === 0) continue
    found.set(metric, { timesMs: points.map(({ t }) => t), values: points.map(({ v }) => v) })
  }
  return found
}

/** The metrics that have a suspect reading, by the time of a row: of a reading, or of the step that it is in. */
export function suspectMetrics(suspects: Suspects, stepMs = 1): ReadonlyMap<number, readonly string[]> {
  const byTime = new Map<number, string[]>()
  for (const [metric, { timesMs }] of suspects) {
    for (const timeMs of timesMs) {
      const rowMs = Math.floor(timeMs / stepMs) * stepMs
      const before = byTime.get(rowMs) ?? []
      if (!before.includes(metric)) byTime.set(rowMs, [...before, metric])
    }
  }
  return byTime
}
