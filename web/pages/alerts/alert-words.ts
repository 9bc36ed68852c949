/** Rules of alerts, selectors of devices, weekly windows and attempts to send in words and in the units of the person. */

import type { Condition } from '../../../alerts/core/condition.ts'
import { conditionText as conditionIn } from '../../../alerts/core/condition-text.ts'
import type { NewRule } from '../../../alerts/core/rule.ts'
import type { WeeklyWindow } from '../../../alerts/core/silence.ts'
import type { Selector } from '../../../auth/devices/selector.ts'
import { durationText } from '../../text/numbers.ts'
import { listed, percent } from '../../text/phrases.ts'
import { measure, measureDifference, nameWithin, type Quantities } from '../../text/quantities.ts'
import { t, words } from '../../words/words.ts'

const namesShown = 3

/** Null: of the service. */
export function selectorText(selector: Selector | null): string {
  if (selector === null) return t('the service')
  if ('all' in selector) return t('all devices')
  if ('tags' in selector) return t('devices with {list}', { list: listed(selector.tags) })
  const { devices } = selector
  const more = devices.length - namesShown
  return more > 0
    ? t('{list} and {more} more', { list: devices.slice(0, namesShown).join(', '), more })
    : listed(devices)
}

const alertNames = { info: t('a notice'), warning: t('a warning'), critical: t('a critical alert') } as const

/** `“Temperature above 30.0 °C” on all devices sends a warning to Mail.` The condition may be a clause or a noun. */
export function ruleSentence(rule: NewRule, quantities: Quantities, channels: readonly string[]): string {
  const [condition, alert, to] = [ruleText(rule, quantities), alertNames[rule.severity], listed(channels)]
  const isSent = channels.length > 0
  if (rule.selector === null) {
    return isSent
      ? t('“{condition}” sends {alert} to {to}.', { condition, alert, to })
      : t('“{condition}” shows {alert} on the pages only.', { condition, alert })
  }
  const devices = selectorText(rule.selector)
  return isSent
    ? t('“{condition}” on {devices} sends {alert} to {to}.', { condition, devices, alert, to })
    : t('“{condition}” on {devices} shows {alert} on the pages only.', { condition, devices, alert })
}

const dayNames = [
  t('Mondays'),
  t('Tuesdays'),
  t('Wednesdays'),
  t('Thursdays'),
  t('Fridays'),
  t('Saturdays'),
  t('Sundays'),
]

/** `Saturdays and Sundays 22:00–06:00` */
export function weeklyText(windows: readonly WeeklyWindow[]): string {
  return windows
    .map(({ days, from, until }) => {
      const names = days.length === 7 ? t('each day') : listed(days.map(day => dayNames[day - 1] ?? ''))
      return `${names} ${from}–${until}`
    })
    .join('; ')
}

export interface Attempted {
  readonly outcome: 'delivered' | 'written' | 'failed' | 'gone'
  readonly status: number | null
  readonly error: string | null
  readonly answer: string
}

export function attemptText(what: string, { outcome, status, error, answer }: Attempted): string {
  if (outcome === 'written') return t('{what} is {answer}.', { what, answer })
  if (outcome !== 'delivered')
    return t('{what} is not delivered: {reason}.', {
      what,
      reason: error ?? t('status {status}', { status: String(status) }),
    })
  return status === null
    ? t('{what} is delivered.', { what })
    : t('{what} is delivered (status {status}).', { what, status })
}

type ConditionKind = Condition['kind']

/** Keys have the order of the form. */
export const conditionNames: Record<ConditionKind, string> = {
  silent: t('A device is silent'),
  above: t('A value is above a limit'),
  below: t('A value is below a limit'),
  change: t('A value changes quickly'),
  battery: t('A battery runs low'),
  completeness: t('Readings are missing'),
  suspect: t('Readings are suspect'),
  unusual: t('A value is unusual'),
  site_silent: t('Many devices are silent at once'),
  service: t('The service itself has a problem'),
}

/** `Temperature above 30 °C for 10 minutes` */
export function ruleText(rule: { condition: Condition; for_seconds: number }, quantities: Quantities): string {
  const lasting = rule.for_seconds === 0 ? '' : t(' for {duration}', { duration: durationText(rule.for_seconds) })
  return `${conditionText(rule.condition, quantities)}${lasting}`
}

export function conditionText(condition: Condition, quantities: Quantities): string {
  return conditionIn(condition, {
    name: metric => quantities.of(metric).name,
    nameWithin: metric => nameWithin(quantities.of(metric)),
    value: (value, metric) => measure(value, quantities.of(metric)),
    difference: (value, metric) => measureDifference(value, quantities.of(metric)),
    share: percent,
    language: words,
  })
}
