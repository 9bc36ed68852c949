/** Reasons for missing figures: one sentence per code, with a remedy. */

import type { Lack, PairReason, Reason } from '../../query/shapes/parts.ts'
import { t, tn } from '../words/words.ts'
import { percent } from './phrases.ts'

/** `A forecast needs 14 days of readings; there are 9.` */
const needsDays = (what: string) => (lack: Lack) => {
  if (lack === null) return t('{what} more days of readings.', { what })
  const found = Math.floor(lack.found)
  const days = tn(lack.needed, '{count} day', '{count} days')
  // The grammar of English follows the exact number.
  return lack.found === 1
    ? t('{what} {days} of readings; there is {found}.', { what, days, found })
    : t('{what} {days} of readings; there are {found}.', { what, days, found })
}

const needsShare = (what: string) => (lack: Lack) => {
  if (lack === null) return t('{what} more values.', { what })
  return t('{what} values in {needed} of the time; there are values in {found}.', {
    what,
    needed: percent(lack.needed),
    found: percent(lack.found),
  })
}

const sentences: Readonly<Record<Reason | PairReason, string | ((lack: Lack) => string)>> = {
  no_value: t('There is no value in these days.'),
  no_variation: t('All values are the same.'),
  few_cells: lack =>
    lack === null
      ? t('There are too few values yet.')
      : t('It needs {needed} values; there are {found}.', { needed: lack.needed, found: lack.found }),
  short_span: needsDays(t('Daily cycles need')),
  sparse_cells: needsShare(t('Cycles need')),
  sparse_hours: needsShare(t('It needs')),
  few_days: t('A trend needs ten days of readings that differ.'),
  long_memory: t(
    'Each value depends on the ones before: too few are independent to show a trend. A longer range may show one.',
  ),
  tests_disagree: t('There is no clear trend: the tests disagree.'),
  few_levels: needsDays(t('Changes of level need')),
  few_same_hours: needsDays(t('The usual range needs')),
  short_history: needsDays(t('It needs')),
  no_hours: t('There is no hour with all values that it needs.'),
  no_altitude: t('It needs the altitude of the device.'),
  few_whole_days: t('It needs a day with values in 18 hours.'),
  long_range: t('It is computed for at most 31 days.'),
  sparse_readings: t('It needs a reading at least every 10 minutes.'),
  slow_readings: t('It needs a reading at least every 3 hours.'),
  no_period: t('No rise of the temperature recurs at a fixed interval.'),
  nearly_constant: t(
    'The hourly means vary by less than half a step of the sensor: too little to find cycles or a trend.',
  ),
  no_data: t('There is no hour in which both have a value.'),
  insufficient_data: t('There are fewer than ten hours in which both have a value.'),
  constant: t('One of the two does not vary.'),
  too_few_independent: t('No clear link: it needs more hours.'),
  lag_not_significant: t('No lag is significant.'),
}

/** A code that a newer service gives is shown as it is. */
export function reasonSentence(reason: string | null, lack: Lack = null): string {
  if (reason === null) return t('Not computed.')
  const sentence = (sentences as Readonly<Record<string, (typeof sentences)[Reason] | undefined>>)[reason]
  return typeof sentence === 'function' ? sentence(lack) : (sentence ?? reason)
}
