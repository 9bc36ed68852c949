/** A rule as the fields of a form, in the units that a person sees, and back. */

import type { Channel } from '../../../alerts/core/channel.ts'
import type { Condition, ServiceFact } from '../../../alerts/core/condition.ts'
import type { NewRule } from '../../../alerts/core/rule.ts'
import { type Quantities, type Quantity, shownDifference, shownValue } from '../../text/quantities.ts'
import { t } from '../../words/words.ts'

export type ConditionKind = Condition['kind']
export type BatteryMetric = 'battery_percentage' | 'battery_voltage' | 'days'
export type Direction = 'rises' | 'falls' | 'changes'

/** Numbers are as they were typed. */
export interface RuleForm {
  readonly name: string
  readonly covers: 'all' | 'tags' | 'devices'
  /** Separated by commas. */
  readonly tags: string
  /** Names. */
  readonly devices: readonly string[]
  readonly kind: ConditionKind
  readonly metric: string
  readonly battery: BatteryMetric
  readonly value: string
  readonly hysteresis: string
  readonly direction: Direction
  readonly windowSeconds: number
  /** Undefined: longer than usual. */
  readonly afterSeconds: number | undefined
  /** Percent. */
  readonly share: string
  readonly count: string
  readonly fact: ServiceFact
  readonly days: string
  readonly forSeconds: number
  readonly keepSeconds: number
  readonly severity: NewRule['severity']
  readonly channels: readonly number[]
  readonly groupBy: string
  readonly note: string
  readonly enabled: boolean
}

export const emptyForm: RuleForm = {
  name: '',
  covers: 'all',
  tags: '',
  devices: [],
  kind: 'silent',
  metric: 'temperature',
  battery: 'battery_percentage',
  value: '',
  hysteresis: '',
  direction: 'changes',
  windowSeconds: 3600,
  afterSeconds: undefined,
  share: '50',
  count: '2',
  fact: 'questdb_away',
  days: '14',
  forSeconds: 0,
  keepSeconds: 0,
  severity: 'warning',
  channels: [],
  groupBy: '',
  note: '',
  enabled: true,
}

export function formOf(rule: NewRule, quantities: Quantities): RuleForm {
  const { name, selector, condition, severity, channels, group_by, note, enabled } = rule
  return {
    ...emptyForm,
    ...selectorFields(selector),
    ...conditionFields(condition, quantities),
    name,
    kind: condition.kind,
    forSeconds: rule.for_seconds,
    keepSeconds: rule.keep_firing_seconds,
    severity,
    channels,
    groupBy: group_by ?? '',
    note,
    enabled,
  }
}

function selectorFields(selector: NewRule['selector']): Partial<RuleForm> {
  if (selector === null || 'all' in selector) return { covers: 'all' }
  return 'tags' in selector
    ? { covers: 'tags', tags: selector.tags.join(', ') }
    : { covers: 'devices', devices: selector.devices }
}

function conditionFields(condition: Condition, quantities: Quantities): Partial<RuleForm> {
  switch (condition.kind) {
    case 'silent':
      return { afterSeconds: condition.after_seconds }
    case 'above':
    case 'below': {
      const quantity = quantities.of(condition.metric)
      const value = written(shownValue(condition.value, quantity))
      return { metric: condition.metric, value, ...hysteresisField(condition.hysteresis, quantity) }
    }
    case 'change': {
      const quantity = quantities.of(condition.metric)
      return {
        metric: condition.metric,
        value: written(shownDifference(Math.abs(condition.value), quantity)),
        direction: condition.absolute ? 'changes' : condition.value < 0 ? 'falls' : 'rises',
        windowSeconds: condition.window_seconds,
        ...hysteresisField(condition.hysteresis, quantity),
      }
    }
    case 'battery': {
      if (condition.days !== undefined) return { battery: 'days', days: String(condition.days) }
      const { metric = 'battery_percentage', value = 0 } = condition
      const quantity = quantities.of(metric)
      const shown = written(shownValue(value, quantity))
      return { battery: metric, value: shown, ...hysteresisField(condition.hysteresis, quantity) }
    }
    case 'completeness':
      return { share: percentOf(condition.share) }
    case 'suspect':
      return { share: percentOf(condition.share), metric: condition.metric ?? '' }
    case 'unusual':
      return { metric: condition.metric }
    case 'site_silent':
      return {
        share: percentOf(condition.share),
        count: String(condition.count),
        afterSeconds: condition.after_seconds,
      }
    case 'service':
      return {
        fact: condition.fact,
        days: String(condition.days ?? emptyForm.days),
        share: percentOf(condition.share ?? 0.5),
      }
  }
}

const hysteresisField = (hysteresis: number, quantity: Quantity) => ({
  hysteresis: hysteresis === 0 ? '' : written(shownDifference(hysteresis, quantity)),
})
const percentOf = (share: number) => written(share * 100)

/** Ten digits remove the rounding errors of unit conversions. */
function written(value: number): string {
  return String(Number(value.toPrecision(10)))
}

/** The metric of a condition on readings; undefined for other conditions. */
export function metricOf(condition: Condition): string | undefined {
  return 'metric' in condition ? condition.metric : undefined
}

/** The rules that nearly everybody wants. */
export const presets = {
  silent: {
    title: t('Notify me when a device goes silent'),
    form: { name: t('A device is silent'), kind: 'silent', note: t('Check its power and its connection.') },
  },
  battery: {
    title: t('Notify me when a battery runs low'),
    form: { name: t('A battery runs low'), kind: 'battery', battery: 'days', days: '14', severity: 'info' },
  },
} as const satisfies Record<string, { title: string; form: Partial<RuleForm> }>

export function presetForm(given: URLSearchParams, channels: readonly Channel[]): RuleForm {
  const name = given.get('preset') ?? ''
  const preset = Object.hasOwn(presets, name) ? presets[name as keyof typeof presets] : undefined
  const device = given.get('device')
  const metric = given.get('metric')
  return {
    ...emptyForm,
    ...preset?.form,
    ...(device === null ? {} : { covers: 'devices', devices: [device] }),
    ...(metric === null ? {} : { kind: 'above', metric }),
    // A single channel is selected by default.
    channels: channels.length === 1 ? channels.map(({ id }) => id) : [],
  }
}
