/** Reads the fields of a form as a rule. */

import type { Condition } from '../../../alerts/core/condition.ts'
import type { NewRule } from '../../../alerts/core/rule.ts'
import type { Quantities, Quantity } from '../../text/quantities.ts'
import { t } from '../../words/words.ts'
import type { RuleForm } from './rule-form.ts'

export type ReadForm = { readonly ok: true; readonly rule: NewRule } | { readonly ok: false; readonly sentence: string }

/** Returns the rule, or the first missing field. The service checks the rest. */
export function readForm(form: RuleForm, quantities: Quantities): ReadForm {
  const { name, covers, devices, kind, note } = form
  const tags = listIn(form.tags)
  if (name.trim() === '') return refused(t('The rule needs a name.'))
  if (kind !== 'service' && covers === 'tags' && tags.length === 0) return refused(t('Name a tag, as site:berlin.'))
  if (kind !== 'service' && covers === 'devices' && devices.length === 0) return refused(t('Choose a device.'))
  const condition = readCondition(form, quantities)
  if (typeof condition === 'string') return refused(condition)
  const selector = covers === 'all' ? { all: true as const } : covers === 'tags' ? { tags } : { devices: [...devices] }
  const rule: NewRule = {
    name: name.trim(),
    selector: kind === 'service' ? null : selector,
    condition,
    for_seconds: form.forSeconds,
    keep_firing_seconds: form.keepSeconds,
    severity: form.severity,
    channels: [...form.channels],
    group_by: form.groupBy.trim() === '' ? null : form.groupBy.trim(),
    enabled: form.enabled,
    note: note.trim(),
  }
  return { ok: true, rule }
}

const refused = (sentence: string) => ({ ok: false, sentence }) as const

export function listIn(text: string): string[] {
  return text
    .split(/[,;]/)
    .map(part => part.trim())
    .filter(part => part !== '')
}

/** A text names the missing field. */
function readCondition(form: RuleForm, quantities: Quantities): Condition | string {
  const { kind, metric, afterSeconds } = form
  switch (kind) {
    case 'silent':
      return { kind, ...after(afterSeconds) }
    case 'above':
    case 'below':
      return readThreshold(form, kind, quantities.of(metric))
    case 'change':
      return readChange(form, quantities.of(metric))
    case 'battery':
      return readBattery(form, quantities)
    case 'completeness':
    case 'suspect':
    case 'site_silent':
      return readShare(form, kind)
    case 'unusual':
      return { kind, metric }
    case 'service':
      return readService(form)
  }
}

const after = (seconds: number | undefined) => (seconds === undefined ? {} : { after_seconds: seconds })
const noValue = t('The limit must be a number.')
const noShare = t('The share must be a number from 0 to 100.')

function readThreshold(form: RuleForm, kind: 'above' | 'below', quantity: Quantity): Condition | string {
  const value = numberIn(form.value)
  if (value === undefined) return noValue
  const hysteresis = hysteresisIn(form, quantity)
  return { kind, metric: form.metric, value: storedValue(value, quantity), hysteresis }
}

function readChange(form: RuleForm, quantity: Quantity): Condition | string {
  const typed = numberIn(form.value)
  if (typed === undefined || typed === 0) return t('The change must be a number other than 0.')
  const amount = storedDifference(Math.abs(typed), quantity)
  return {
    kind: 'change',
    metric: form.metric,
    value: form.direction === 'falls' ? -amount : amount,
    absolute: form.direction === 'changes',
    window_seconds: form.windowSeconds,
    hysteresis: hysteresisIn(form, quantity),
  }
}

function readBattery(form: RuleForm, quantities: Quantities): Condition | string {
  if (form.battery === 'days') {
    const days = numberIn(form.days)
    return days === undefined ? t('The number of days must be a number.') : { kind: 'battery', days, hysteresis: 0 }
  }
  const quantity = quantities.of(form.battery)
  const value = numberIn(form.value)
  if (value === undefined) return noValue
  const hysteresis = hysteresisIn(form, quantity)
  return { kind: 'battery', metric: form.battery, value: storedValue(value, quantity), hysteresis }
}

function readShare(form: RuleForm, kind: 'completeness' | 'suspect' | 'site_silent'): Condition | string {
  const share = shareIn(form.share)
  if (share === undefined) return noShare
  if (kind === 'completeness') return { kind, share }
  if (kind === 'suspect') return { kind, share, ...(form.metric === '' ? {} : { metric: form.metric }) }
  const count = numberIn(form.count) ?? 1
  return { kind, share, count, ...after(form.afterSeconds) }
}

function readService({ fact, days, share }: RuleForm): Condition | string {
  if (fact === 'disk_full') {
    const count = numberIn(days)
    return count === undefined ? t('The number of days must be a number.') : { kind: 'service', fact, days: count }
  }
  if (fact !== 'journal_full') return { kind: 'service', fact }
  const used = shareIn(share)
  return used === undefined ? noShare : { kind: 'service', fact, share: used }
}

function hysteresisIn({ hysteresis }: RuleForm, quantity: Quantity): number {
  return storedDifference(Math.abs(numberIn(hysteresis) ?? 0), quantity)
}

function shareIn(text: string): number | undefined {
  const share = numberIn(text)
  return share === undefined || share < 0 || share > 100 ? undefined : Number((share / 100).toPrecision(10))
}

/** Parses a number field. */
function numberIn(text: string): number | undefined {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}

function storedValue(shown: number, { factor, offset }: Quantity): number {
  return Number(((shown - offset) / factor).toPrecision(10))
}

function storedDifference(shown: number, { factor }: Quantity): number {
  return Number((shown / factor).toPrecision(10))
}
