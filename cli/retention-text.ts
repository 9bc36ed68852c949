/** How long raw readings are kept, and what became of older ones. */

import type { Status } from '../api/admin/status.ts'

export function retentionText({ days, oldest_day, expired_days, last_run, fault }: Status['retention']): string {
  const oldest = oldest_day === null ? 'no raw readings known' : `oldest raw readings of ${oldest_day}`
  const result = fault === null ? `${expired_days} days removed since the start` : 'failed'
  const run = last_run === null ? 'not looked yet' : `last look at ${last_run}, ${result}`
  return `${days} whole days, ${oldest}, ${run}`
}
