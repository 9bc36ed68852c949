/** Reasons for missing figures: one sentence per code, with a remedy. */

import { countOf } from '../../analytics/findings/value-words.ts'
import type { Lack, PairReason, Reason } from '../../query/shapes/verdict.ts'
import { percent } from './phrases.ts'

/** `A forecast needs 14 days of readings; there are 9.` */
const needsDays = (what: string) => (lack: Lack) => {
  if (lack === null) return `${what} more days of readings.`
  const { needed, found } = lack
  return `${what} ${countOf(needed, 'day')} of readings; there ${found === 1 ? 'is' : 'are'} ${Math.floor(found)}.`
}

const needsShare = (what: string) => (lack: Lack) => {
  if (lack === null) return `${what} more values.`
  return `${what} values in ${percent(lack.needed)} of the time; there are values in ${percent(lack.found)}.`
}

const sentences: Readonly<Record<Reason | PairReason, string | ((lack: Lack) => string)>> = {
  no_value: 'There is no value in these days.',
  no_variation: 'All values are the same.',
  few_cells: lack =>
    lack === null ? 'There are too few values yet.' : `It needs ${lack.needed} values; there are ${lack.found}.`,
  short_span: needsDays('Daily cycles need'),
  sparse_cells: needsShare('Cycles need'),
  sparse_hours: needsShare('It needs'),
  few_days: 'A trend needs ten days of readings that differ.',
  long_memory:
    'Each value depends on the ones before: too few are independent to show a trend. A longer range may show one.',
  tests_disagree: 'There is no clear trend: the tests disagree.',
  few_levels: needsDays('Changes of level need'),
  few_same_hours: needsDays('The usual range needs'),
  short_history: needsDays('It needs'),
  no_hours: 'There is no hour with all values that it needs.',
  no_altitude: 'It needs the altitude of the device.',
  few_whole_days: 'It needs a day with values in 18 hours.',
  long_range: 'It is computed for at most 31 days.',
  sparse_readings: 'It needs a reading at least every 10 minutes.',
  slow_readings: 'It needs a reading at least every 3 hours.',
  no_period: 'No rise of the temperature recurs at a fixed interval.',
  nearly_constant:
    'The hourly means vary by less than half a step of the sensor: too little to find cycles or a trend.',
  no_data: 'There is no hour in which both have a value.',
  insufficient_data: 'There are fewer than ten hours in which both have a value.',
  constant: 'One of the two does not vary.',
  too_few_independent: 'No clear link: it needs more hours.',
  lag_not_significant: 'No lag is significant.',
}

/** A code that a newer service gives is shown as it is. */
export function reasonSentence(reason: string | null, lack: Lack = null): string {
  if (reason === null) return 'Not computed.'
  const sentence = (sentences as Readonly<Record<string, (typeof sentences)[Reason] | undefined>>)[reason]
  return typeof sentence === 'function' ? sentence(lack) : (sentence ?? reason)
}
