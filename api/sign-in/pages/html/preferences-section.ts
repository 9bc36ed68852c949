/** Renders the display preferences of an account. */

import { pressureUnits, speedUnits, temperatureUnits } from '../../../../auth/accounts/preference-values.ts'
import { signOf } from '../../../../store/metrics/units.ts'
import { type Html, html } from '../../../http/html.ts'
import { emptyForm, type FormState } from '../form.ts'
import type { AccountView } from './account-model.ts'
import { form, formState, section } from './fields.ts'

interface Choice {
  name: string
  label: string
  /** Text of the first, empty option. */
  usual: string
  options: readonly { value: string; text: string }[]
}

const unitsOf = (codes: readonly string[]) => codes.map(value => ({ value, text: signOf(value) }))
const usualUnit = 'As measured'
const choices: readonly Choice[] = [
  { name: 'temperature_unit', label: 'Temperature', usual: usualUnit, options: unitsOf(temperatureUnits) },
  { name: 'pressure_unit', label: 'Air pressure', usual: usualUnit, options: unitsOf(pressureUnits) },
  { name: 'speed_unit', label: 'Wind and other speeds', usual: usualUnit, options: unitsOf(speedUnits) },
  {
    name: 'time_zone',
    label: 'Times',
    usual: 'In the zone of the page',
    options: ['UTC', ...Intl.supportedValuesOf('timeZone')].map(value => ({ value, text: value })),
  },
]

export function preferencesSection({ account, forms }: AccountView): Html {
  const sent = formState(forms, 'preferences')
  const state = sent === emptyForm ? { ...emptyForm, values: textsOf(account.preferences) } : sent
  const fields = [
    html`<p class="hint">What the pages show. Files of CSV and the API have the units as measured and times in UTC; days, hours and
statistics of analyses stay in the zone of the page: the zone of its station, or of the service.</p>
`,
    ...choices.map(choice => select(choice, state)),
  ]
  const markup = { name: 'preferences', action: 'account', state, fields, submit: 'Save', tone: 'plain' } as const
  return section('preferences', 'Units and time zone', form({ ...markup, isCard: false }))
}

function textsOf(preferences: AccountView['account']['preferences']): Record<string, string> {
  return Object.fromEntries(Object.entries(preferences).map(([name, value]) => [name, value ?? '']))
}

/** A present choice is listed even if it is not one of the options. */
function select({ name, label, usual, options }: Choice, { values, faults }: FormState): Html {
  const chosen = values[name] ?? ''
  const id = `preferences-${name}`
  const fault = faults[name]
  const isOffered = chosen === '' || options.some(({ value }) => value === chosen)
  const offered = [{ value: '', text: usual }, ...options, ...(isOffered ? [] : [{ value: chosen, text: chosen }])]
  const error = fault === undefined ? undefined : html`<p class="error" id="${id}-error">${fault}</p>\n`
  const invalid = fault === undefined ? undefined : html` aria-invalid="true" aria-describedby="${id}-error"`
  return html`<div class="field"><label for="${id}">${label}</label>
${error}<select id="${id}" name="${name}"${invalid}>${offered.map(
    ({ value, text }) =>
      html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${text}</option>`,
  )}</select></div>
`
}
