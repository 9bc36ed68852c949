/**
 * Findings of a fleet: its batteries, and devices that have changed unlike their peers or unlike their own usual days.
 */

import { type Finding, noDetails } from '../../analytics/findings/finding.ts'
import { rankFindings } from '../../analytics/findings/rank.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { FleetFinding } from '../shapes/findings.ts'
import type { OutlierInsight } from '../shapes/insights.ts'
import { findingPart, wordedFinding } from './worded-finding.ts'
import { serviceWords } from './words.ts'

export interface DeviceFinding extends Finding {
  readonly device: string
}

/** Returns the worst findings; `custom` has the metrics beside the five. */
export function fleetFindings(
  found: readonly DeviceFinding[],
  local: LocalTime,
  custom: Parameters<typeof serviceWords>[1] = [],
): { findings: FleetFinding[]; findings_total: number } {
  const words = serviceWords(local, custom)
  const all = rankFindings(found, Number.POSITIVE_INFINITY)
  const findings = rankFindings(all).map(({ device, ...finding }) => {
    return { device, ...findingPart(wordedFinding(finding, words), local) }
  })
  return { findings, findings_total: all.length }
}

export function outlierFindings(
  outliers: readonly Pick<OutlierInsight, 'device' | 'metric' | 'value' | 'median' | 'peers'>[],
  sinceMs: number,
): DeviceFinding[] {
  return outliers.map(({ device, metric, value, median, peers }) => {
    return {
      ...noDetails,
      device,
      code: 'drift',
      severity: 'warning',
      metric,
      sinceMs,
      value,
      expected: [median, median],
      count: peers,
    }
  })
}
