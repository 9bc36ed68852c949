/** Up to which age a value is current: an old one is never shown as if it were. */

import type { Stats } from '../../../query/shapes/stats.ts'
import type { Detail } from './answers.ts'

/** Without an expected interval a device is taken to report every quarter of an hour, as the service does. */
const expectedSecondsUsual = 900

type Pace = Pick<Stats['freshness'], 'cadence' | 'expected_interval_seconds'> &
  Pick<Stats['reliability'], 'gap_threshold_seconds'>
type Gaps = Pick<Detail, 'metrics'> & { readonly last_24h: Pick<Detail['last_24h'], 'gap_seconds'> }

/** As `docs/statistics.md` has it for a fresh device; a metric that comes less often is measured by its own gaps. */
export function freshMs(metric: string, pace: Pace | undefined, gaps: Gaps | undefined): number {
  return 1000 * Math.max(freshSeconds(pace), rarerGapSeconds(metric, gaps))
}

function freshSeconds(pace: Pace | undefined): number {
  if (pace?.cadence === 'irregular' && pace.gap_threshold_seconds !== null) return pace.gap_threshold_seconds
  const seconds = pace?.expected_interval_seconds ?? expectedSecondsUsual
  return Math.max(2 * seconds, seconds + 60)
}

/** Longer than that of the device is only the gap of what comes less often; 0 of the others. */
function rarerGapSeconds(metric: string, gaps: Gaps | undefined): number {
  const own = gaps?.metrics !== undefined && Object.hasOwn(gaps.metrics, metric) ? gaps.metrics[metric] : undefined
  const [ofMetric, ofDevice] = [own?.gap_seconds ?? 0, gaps?.last_24h.gap_seconds ?? Number.POSITIVE_INFINITY]
  return ofMetric > ofDevice ? ofMetric : 0
}
