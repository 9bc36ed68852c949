/** A gauge that has behaved unlike its own last four weeks, as a finding and as anomalies. */

import { type UnusualEpisode, type UnusualInput, unusualOf } from '../unusual/unusual.ts'
import type { Anomaly } from './anomaly.ts'
import { type Finding, noDetails } from './finding.ts'
import { recentMs } from './from-quality.ts'

const hourMs = 3_600_000

export interface UnusualGauge extends UnusualInput {
  readonly metric: string
  /** Start of the first cell. */
  readonly startMs: number
}

/** The ongoing episode, or else the last one of seven days. */
export function unusualFinding(gauge: UnusualGauge): Finding | undefined {
  const { metric, hourly } = gauge
  const judgedFrom = Math.max(0, hourly.length - (2 * recentMs) / hourMs)
  const last = unusualOf(gauge, judgedFrom).episodes.at(-1)
  if (last === undefined || (last.to + 1 - hourly.length) * hourMs < -recentMs) return undefined
  const { value, expected, isOpen } = last
  const { startMs: sinceMs, endMs: untilMs } = timesOf(last, gauge)
  const severity = isOpen ? 'warning' : 'info'
  return { ...noDetails, code: 'unusual', severity, metric, sinceMs, untilMs, value, expected }
}

/** All of them, oldest first. */
export function unusualAnomalies(gauge: UnusualGauge): Anomaly[] {
  return unusualOf(gauge).episodes.map(episode => {
    const { value, expected } = episode
    return { code: 'unusual', metric: gauge.metric, ...timesOf(episode, gauge), value, expected, count: null }
  })
}

function timesOf({ from, to, isOpen }: UnusualEpisode, { startMs }: UnusualGauge) {
  return { startMs: startMs + from * hourMs, endMs: isOpen ? null : startMs + (to + 1) * hourMs }
}
