/** A direction as the flat-line test judges it: a vane that stands still in the wind. */

import { episodesOf } from '../../analytics/findings/episodes.ts'
import { findingsOfKind } from '../../analytics/findings/finding.ts'
import { frozenMarks, type JudgedMetric } from '../../analytics/findings/quality-anomalies.ts'
import { checkQuality } from '../../analytics/quality/quality.ts'
import { flatBit } from '../../analytics/quality/quality-limits.ts'
import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { customLimits } from '../custom-metric.ts'
import type { CustomSamples } from './metric-samples.ts'

/** Undefined for other metrics, and without a speed, because calm cannot be detected. */
export function judgedVane(
  { metric, timesMs, values, speeds }: CustomSamples,
  { stretches }: Cadence,
): JudgedMetric | undefined {
  const calmBelow = metric.speed?.calmBelow ?? null
  if (metric.kind !== 'direction' || !findingsOfKind.direction.stuck) return undefined
  if (speeds === undefined || calmBelow === null) return undefined
  const { marks, limits } = checkQuality(timesMs, values, customLimits(metric), stretches)
  const lines = episodesOf({ timesMs, values, marks }, flatBit, stretches)
  return {
    name: metric.name,
    timesMs,
    values,
    limits,
    marks: frozenMarks({ timesMs, marks }, lines, { speeds, calmBelow }),
  }
}
