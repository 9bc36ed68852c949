/** Initial fields of a new rule, from the arguments of links to it. */

import type { Channel } from '../../../alerts/core/channel.ts'
import { emptyForm, type RuleForm } from './rule-form.ts'

/** The rules that nearly everybody wants. */
export const presets = {
  silent: {
    title: 'Notify me when a device goes silent',
    form: { name: 'A device is silent', kind: 'silent', note: 'Check its power and its connection.' },
  },
  battery: {
    title: 'Notify me when a battery runs low',
    form: { name: 'A battery runs low', kind: 'battery', battery: 'days', days: '14', severity: 'info' },
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
