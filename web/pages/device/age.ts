/** Up to which age a value is current: an old one is never shown as if it were. */

import type { Stats } from '../../../query/shapes/stats.ts'
import type { Detail } from './answers.ts'

/** Without an expected interval, the service assumes a quarter of an hour. */
const expectedSecondsUsual = 900

type Pace = Pick<Stats['freshness'], 'cadence' | 'expected_interval_seconds'> &
  Pick<Stats['reliability'], 'gap_threshold_seconds'>
type Gaps = Pick<Detail, 'metrics'> & { readonly last_24h: Pick<Detail['last_24h'], 'gap_seconds'> }

/**
 * The limit of a fresh device in `docs/statistics.md`. A metric that reports less often than its device is judged by
 * its own gaps.
 */
export function freshMs(metric: string, pace: Pace | undefined, gaps: Gaps | undefined): number {
  return 1000 * Math.max(freshSeconds(pace), rarerGapSeconds(metric, gaps))
}

function freshSeconds(pace: Pace | undefined): number {
  if (pace?.cadence === 'irregular' && pace.gap_threshold_seconds !== null) return pace.gap_threshold_seconds
  const seconds = pace?.expected_interval_seconds ?? expectedSecondsUsual
  return Math.max(2 * seconds, seconds + 60)
}

/** The gap of a metric that reports less often than its device; 0 for others. */
function rarerGapSeconds(metric: string, gaps: Gaps | undefined): number {
  const own = gaps?.metrics !== undefined && Object.hasOwn(gaps.metrics, metric) ? gaps.metrics[metric] : undefined
  const [ofMetric, ofDevice] = [own?.gap_seconds ?? 0, gaps?.last_24h.gap_seconds ?? Number.POSITIVE_INFINITY]
  return ofMetric > ofDevice ? ofMetric : 0
}
