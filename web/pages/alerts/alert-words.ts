/** Selectors of devices, rules, weekly windows and attempts to send in words. */

import type { NewRule } from '../../../alerts/core/rule.ts'
import type { WeeklyWindow } from '../../../alerts/core/silence.ts'
import type { Selector } from '../../../auth/devices/selector.ts'
import { ruleText } from '../../text/condition-words.ts'
import { listed } from '../../text/phrases.ts'
import type { Quantities } from '../../text/quantities.ts'

const namesShown = 3

/** Null: of the service. */
export function selectorText(selector: Selector | null): string {
  if (selector === null) return 'the service'
  if ('all' in selector) return 'all devices'
  if ('tags' in selector) return `devices with ${listed(selector.tags)}`
  const { devices } = selector
  const more = devices.length - namesShown
  return more > 0 ? `${devices.slice(0, namesShown).join(', ')} and ${more} more` : listed(devices)
}

const alertNames = { info: 'a notice', warning: 'a warning', critical: 'a critical alert' } as const

/** `“Temperature above 30.0 °C” on all devices sends a warning to Mail.` The condition may be a clause or a noun. */
export function ruleSentence(rule: NewRule, quantities: Quantities, channels: readonly string[]): string {
  const { selector, severity } = rule
  const where = selector === null ? '' : ` on ${selectorText(selector)}`
  const verb = channels.length === 0 ? 'shows' : 'sends'
  const to = channels.length === 0 ? 'on the pages only' : `to ${listed(channels)}`
  return `“${ruleText(rule, quantities)}”${where} ${verb} ${alertNames[severity]} ${to}.`
}

const dayNames = ['Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays']

/** `Saturdays and Sundays 22:00–06:00` */
export function weeklyText(windows: readonly WeeklyWindow[]): string {
  return windows
    .map(({ days, from, until }) => {
      const names = days.length === 7 ? 'each day' : listed(days.map(day => dayNames[day - 1] ?? ''))
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
  if (outcome === 'written') return `${what} is ${answer}.`
  const answered = status === null ? '' : ` (status ${status})`
  return outcome === 'delivered'
    ? `${what} is delivered${answered}.`
    : `${what} is not delivered: ${error ?? `status ${status}`}.`
}
