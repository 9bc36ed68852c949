/** Findings with their sentences, and in the form of an answer. */

import type { Finding } from '../../analytics/findings/finding.ts'
import { type FindingWords, findingText } from '../../analytics/findings/finding-text.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { Finding as FindingShape } from '../shapes/findings.ts'

/** Plain data that can be posted between threads. */
export interface WordedFinding extends Finding {
  readonly text: string
}

export function wordedFinding(finding: Finding, words: FindingWords): WordedFinding {
  return { ...finding, text: findingText(finding, words) }
}

export function findingPart(
  { code, severity, metric, sinceMs, untilMs, value, expected, count, pattern, reason, text }: WordedFinding,
  local: Pick<LocalTime, 'text'>,
): FindingShape {
  const since = local.text(sinceMs * 1000)
  const until = untilMs === null ? null : local.text(untilMs * 1000)
  return { code, severity, metric, since, until, value, expected, count, pattern, reason, text }
}
