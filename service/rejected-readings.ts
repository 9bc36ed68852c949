/** Finds a device's readings that were rejected in the last day, whole or in part, from this process's memory. */

import type { RejectedReadings } from '../analytics/findings/from-quality.ts'
import type { Rejections } from '../ingest/rejections/rejections.ts'

const dayMs = 86_400_000
/** Bounds the scanned reasons. */
const entriesMax = 100

/** Counts only those with the device's own credential. Undefined without any. */
export function rejectedReadings(
  rejections: Pick<Rejections, 'list'>,
  device: string,
  nowMs: number,
): RejectedReadings | undefined {
  const own = rejections
    .list({ device, limit: entriesMax })
    .entries.filter(({ sender, latestMs, part }) => {
      return part !== 'field' && sender === `device ${device}` && latestMs >= nowMs - dayMs
    })
    .sort((a, b) => b.count - a.count)
  const [most] = own
  if (most === undefined) return undefined
  const total = own.reduce((sum, { count }) => sum + count, 0)
  const sinceMs = Math.min(...own.map(({ firstMs }) => firstMs))
  return { count: 2 ** Math.floor(Math.log2(total)), reason: most.reason, sinceMs }
}
