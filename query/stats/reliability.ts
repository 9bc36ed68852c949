/** How reliably the device reports, up to the full minute of the request. */

import { reliabilityAt } from '../../analytics/reliability/reliability.ts'
import { fullMinute, type ReliabilityRecord } from '../../analytics/reliability/reliability-record.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { Stats } from '../shapes/stats.ts'
import { textOf } from './freshness.ts'

export function reliabilityPart(record: ReliabilityRecord, nowMs: number, local: LocalTime) {
  const { gaps, windows, ...rest } = reliabilityAt(record, nowMs, local)
  return {
    as_of: local.text(Math.max(record.endMs, fullMinute(nowMs)) * 1000),
    // Of the metrics that the record is of, the five among them.
    windows: windows as Stats['reliability']['windows'],
    ...rest,
    gaps: gaps.map(({ start_ms, end_ms, ...gap }) => ({
      start: textOf(start_ms, local),
      end: textOf(end_ms, local),
      ...gap,
    })),
  }
}
