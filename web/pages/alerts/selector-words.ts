/** A selector of devices in a few words, and a rule as a sentence. */

import type { NewRule } from '../../../alerts/core/rule.ts'
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
