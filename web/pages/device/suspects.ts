/** Readings that the service calls suspect: it tests those of the last 24 hours for the picture of the day. */

import type { BuiltInMetric } from '../../../live/fleet-shape.ts'
import { builtInNames } from '../../text/quantities.ts'
import type { TimeWindow } from '../../charts/range.ts'
import { dayMs } from '../../text/zone.ts'
import type { Detail } from './answers.ts'

export interface SuspectReadings {
  /** Ascending, in milliseconds since 1970. */
  readonly timesMs: readonly number[]
  readonly values: readonly number[]
}

export type Suspects = Readonly<Partial<Record<BuiltInMetric, SuspectReadings>>>

/** None where the window begins before the hours that were tested: a part would look like all of them. */
export function suspectsIn(detail: Detail | undefined, { fromMs, toMs }: TimeWindow, nowMs: number): Suspects {
  if (detail === undefined || fromMs < nowMs - dayMs) return {}
  const found = builtInNames.flatMap(metric => {
    const points = detail.last_24h[metric].filter(point => 'flag' in point && point.t >= fromMs && point.t <= toMs)
    const readings = { timesMs: points.map(({ t }) => t), values: points.map(({ v }) => v) }
    return points.length === 0 ? [] : [[metric, readings] as const]
  })
  return Object.fromEntries(found)
}

/** The metrics that have a suspect reading, by the time of a row: of a reading, or of the step that it is in. */
export function suspectMetrics(suspects: Suspects, stepMs = 1): ReadonlyMap<number, readonly BuiltInMetric[]> {
  const byTime = new Map<number, BuiltInMetric[]>()
  for (const metric of builtInNames) {
    for (const timeMs of suspects[metric]?.timesMs ?? []) {
      const rowMs = Math.floor(timeMs / stepMs) * stepMs
      const before = byTime.get(rowMs) ?? []
      if (!before.includes(metric)) byTime.set(rowMs, [...before, metric])
    }
  }
  return byTime
}
