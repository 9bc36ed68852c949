/** Reliability of a device in sentences, and its days as a calendar. */

import type { Stats } from '../../../query/shapes/stats.ts'
import { inOneUnit } from '../../text/numbers.ts'
import { duration, percent } from '../../text/phrases.ts'
import { dayMs } from '../../text/zone.ts'
import { t, tn } from '../../words/words.ts'

type Cadence = Pick<Stats['freshness'], 'cadence' | 'expected_interval_seconds'>
type ReliabilityWindow = Pick<
  Stats['reliability']['windows']['30d'],
  'completeness' | 'hours_with_data' | 'gap_count' | 'longest_gap_seconds' | 'truncated'
>

/** `month`: the window of 30 days. */
export function reliabilitySentences(
  { cadence, expected_interval_seconds }: Cadence,
  month: ReliabilityWindow,
): string[] {
  if (cadence === 'unknown' || expected_interval_seconds === null) {
    return [t('There are too few readings to estimate its interval.')]
  }
  const since = month.truncated ? t('since its oldest reading') : t('in the last 30\u202fdays')
  const interval = intervalText(expected_interval_seconds)
  const every = interval.replace(/^1 (\w+)$/, '$1')
  const pace =
    cadence === 'regular' ? t('It reports every {every}.', { every }) : t('It reports about every {every}.', { every })
  return [pace, shareSentence(month, since), gapSentence(month)].filter(sentence => sentence !== '')
}

/** `61 seconds`, `2.5 minutes`: in one unit. */
function intervalText(seconds: number): string {
  const text = duration(seconds)
  return text.split(' ').length > 2 ? inOneUnit(seconds, true) : text
}

function shareSentence({ completeness, hours_with_data }: ReliabilityWindow, since: string): string {
  if (completeness !== null)
    return t('Of the readings expected {since}, {share} have arrived.', { since, share: percent(completeness) })
  return hours_with_data === null
    ? ''
    : t('There are readings in {share} of the hours {since}.', { share: percent(hours_with_data), since })
}

function gapSentence({ gap_count, longest_gap_seconds }: ReliabilityWindow): string {
  if (gap_count === 0) return t('There was no gap.')
  const longest = duration(longest_gap_seconds)
  if (gap_count === 1) return t('There was one gap, of {longest}.', { longest })
  return tn(
    gap_count,
    'There was {count} gap, the longest of {longest}.',
    'There were {count} gaps, the longest of {longest}.',
    {
      longest,
    },
  )
}

interface CalendarDay {
  readonly date: string
}

/** Rows of seven. */
export function calendarWeeks<Day extends CalendarDay>(days: readonly Day[]): (Day | undefined)[][] {
  const weeks: (Day | undefined)[][] = []
  for (const day of days) {
    const weekday = weekdayOf(day.date)
    if (weeks.length === 0 || weekday === 0) weeks.push(new Array<Day | undefined>(7).fill(undefined))
    const week = weeks.at(-1) as (Day | undefined)[]
    week[weekday] = day
  }
  return weeks
}

/** 0 for Monday. */
function weekdayOf(date: string): number {
  const day = Date.parse(`${date}T00:00Z`) / dayMs
  return (((day + 3) % 7) + 7) % 7
}
