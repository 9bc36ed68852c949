/** The condition of a rule in words: on pages in the chosen units and language, and in notifications. */

import { durationText } from '../../analytics/findings/value-words.ts'
import { english, type Words } from '../../analytics/findings/words.ts'
import type { Condition, ServiceFact } from './condition.ts'

/** The name of a metric, and the text of its values. */
export interface MetricWords {
  /** The name at the beginning of a sentence, and within one. */
  name(metric: string): string
  nameWithin(metric: string): string
  value(value: number, metric: string): string
  /** A difference between two values. */
  difference(value: number, metric: string): string
  share(share: number): string
  readonly language: Words
}

export function factNames({ t } = english): Record<ServiceFact, string> {
  return {
    questdb_away: t('QuestDB does not answer'),
    forwarding_late: t('Readings reach QuestDB late'),
    dead_letters: t('QuestDB has refused readings'),
    disk_full: t('The disk is nearly full'),
    journal_full: t('The journal is nearly full'),
    clock_stepped: t('The clock was set'),
  }
}

/** `Temperature above 30 °C` */
export function conditionText(condition: Condition, words: MetricWords): string {
  const { t } = words.language
  switch (condition.kind) {
    case 'silent':
      return condition.after_seconds === undefined
        ? t('No reading for longer than usual')
        : t('No reading for {duration}', { duration: durationText(condition.after_seconds, words.language) })
    case 'above':
      return t('{name} above {value}', limitOf(condition, words))
    case 'below':
      return t('{name} below {value}', limitOf(condition, words))
    case 'change':
      return changeText(condition, words)
    case 'battery':
      return batteryText(condition, words)
    case 'completeness':
      return t('Less than {share} of the readings of an hour', { share: words.share(condition.share) })
    case 'suspect':
      return suspectText(condition, words)
    case 'unusual':
      return t('{name} unlike the four weeks before', { name: words.name(condition.metric) })
    case 'site_silent':
      return siteText(condition, words)
    case 'service':
      return serviceText(condition, words)
  }
}

type Of<Kind extends Condition['kind']> = Extract<Condition, { kind: Kind }>

function limitOf({ metric, value }: { metric: string; value: number }, words: MetricWords) {
  return { name: words.name(metric), value: words.value(value, metric) }
}

function changeText({ metric, value, absolute, window_seconds }: Of<'change'>, words: MetricWords): string {
  const { t } = words.language
  const values = {
    name: words.name(metric),
    amount: words.difference(Math.abs(value), metric),
    duration: durationText(window_seconds, words.language),
  }
  if (absolute) return t('{name} changes by more than {amount} within {duration}', values)
  return value < 0
    ? t('{name} falls by more than {amount} within {duration}', values)
    : t('{name} rises by more than {amount} within {duration}', values)
}

function batteryText({ metric, value, days }: Of<'battery'>, words: MetricWords): string {
  const { t, tn } = words.language
  if (days !== undefined) {
    return tn(days, 'The battery lasts less than {count} day', 'The battery lasts less than {count} days')
  }
  if (metric === undefined || value === undefined) return t('The battery is low')
  return t('{name} below {value}', limitOf({ metric, value }, words))
}

function suspectText({ metric, share }: Of<'suspect'>, words: MetricWords): string {
  const { t } = words.language
  const shown = words.share(share)
  return metric === undefined
    ? t('More than {share} of the readings of an hour are suspect', { share: shown })
    : t('More than {share} of the {name} readings of an hour are suspect', {
        share: shown,
        name: words.nameWithin(metric),
      })
}

function siteText({ share, count, after_seconds: after }: Of<'site_silent'>, words: MetricWords): string {
  const { t, tn } = words.language
  const shown = words.share(share)
  const text =
    count > 1
      ? tn(
          count,
          'More than {share} of the devices, and at least {count} device, are silent',
          'More than {share} of the devices, and at least {count} devices, are silent',
          { share: shown },
        )
      : t('More than {share} of the devices are silent', { share: shown })
  return after === undefined ? text : text + t(' for {duration}', { duration: durationText(after, words.language) })
}

function serviceText({ fact, days, share }: Of<'service'>, words: MetricWords): string {
  const { t, tn } = words.language
  if (fact === 'disk_full' && days !== undefined) {
    return tn(days, 'The disk is full within {count} day', 'The disk is full within {count} days')
  }
  if (fact === 'journal_full' && share !== undefined) {
    return t('More than {share} of the journal is used', { share: words.share(share) })
  }
  return factNames(words.language)[fact]
}
