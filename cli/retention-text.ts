/** How long raw readings are kept, what became of older ones, and what waits for a person. */

import type { Status } from '../api/admin/status-answer.ts'

type Retention = Status['retention']

export function retentionText({ days, oldest_day, expired_days, last_run, fault }: Retention): string {
  const oldest = oldest_day === null ? 'no raw readings known' : `oldest raw readings of ${oldest_day}`
  const result = fault === null ? `${expired_days} days removed since the start` : 'failed'
  const run = last_run === null ? 'not looked yet' : `last look at ${last_run}, ${result}`
  return `${days} whole days, ${oldest}, ${run}`
}

/** Why days do not expire, and what to do about it. */
export function retentionProblems({ fault, waiting }: Retention): string[] {
  const problems = fault === null ? [] : [`days cannot expire (${fault}); it is tried again`]
  if (waiting === null) return problems
  const what = `raw readings of ${waiting.days} days from ${waiting.from} on`
  if (waiting.reason === 'archive_unavailable') {
    return [...problems, `${what} are due and stay, since the archive is unavailable`]
  }
  const why = {
    several_days: 'are due at once and stay',
    no_newer_readings: 'are due and stay, since no newer readings came',
  }[waiting.reason]
  return [...problems, `${what} ${why}; if the clock is right: barograph retention confirm ${waiting.before}`]
}
