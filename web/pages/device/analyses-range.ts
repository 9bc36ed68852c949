/** The time range of analyses, kept in the address: a number of days up to now, or the range of the charts. */

import type { Stats } from '../../../query/shapes/stats.ts'
import type { TimeWindow } from '../../charts/range.ts'
import { t } from '../../words/words.ts'

export const nameOfAnalysesRange = {
  '7d': t('the last 7 days'),
  '30d': t('the last 30 days'),
  '90d': t('the last 90 days'),
  '365d': t('the last year'),
  charts: t('the range of the charts'),
} as const
export type AnalysesRange = keyof typeof nameOfAnalysesRange

const daysOf = { '7d': 7, '90d': 90, '365d': 365 } as const
const usual = '30d'
const hourMs = 3_600_000

export function readAnalysesRange(fields: URLSearchParams): AnalysesRange {
  const asked = fields.get('analyses') ?? usual
  return Object.hasOwn(nameOfAnalysesRange, asked) ? (asked as AnalysesRange) : usual
}

/** The argument for `readAnalysesRange`; undefined for the default. */
export function analysesArgument(range: AnalysesRange): string | undefined {
  return range === usual ? undefined : range
}

/** Arguments for a query string; none for an analysis' default range. A range that ends now moves on by the hour. */
export function analysesQuery(range: AnalysesRange, { fromMs, toMs }: TimeWindow, isUpToNow: boolean): string[] {
  if (range === usual) return []
  if (range !== 'charts') return [`days=${daysOf[range]}`]
  const whole = (atMs: number) => (isUpToNow ? Math.floor(atMs / hourMs) * hourMs : atMs)
  return [`start=${whole(fromMs)}`, `end=${whole(toMs)}`]
}

/** Names of the analysed range in sentences. */
export interface AnalysesWords {
  /** `the last 30 days` */
  readonly of: string
  /** `in the last 30 days` */
  readonly during: string
  /** True if the range covers all stored readings. */
  readonly isOfAll: boolean
}

export function analysesWords(range: AnalysesRange, { truncated, days }: Stats['window']): AnalysesWords {
  if (range === 'charts') {
    return { of: t('the readings in the range of the charts'), during: t('in the range of the charts'), isOfAll: false }
  }
  if (truncated) return { of: t('the readings so far'), during: t('since its oldest reading'), isOfAll: true }
  return {
    of: t('the last {days}\u202fdays', { days }),
    during: t('in the last {days}\u202fdays', { days }),
    isOfAll: false,
  }
}
