/** Renders the page of an account. */

import type { Words } from '../../../../analytics/findings/words.ts'
import type { Account } from '../../../../auth/accounts/account.ts'
import {
  languageNames,
  languages,
  pressureUnits,
  speedUnits,
  temperatureUnits,
} from '../../../../auth/accounts/preference-values.ts'
import { readScopeOfAccount } from '../../../../auth/policy.ts'
import { signOf } from '../../../../store/metrics/units.ts'
import { type Html, html } from '../../../http/html.ts'
import { roleName } from '../../../http/page-document.ts'
import { emptyForm, type FormState } from '../form.ts'
import type { AccountView } from './account-model.ts'
import { field, form, formState, mailSentence, notice, passwordHint, section, formState as stateOf } from './fields.ts'
import { keysSection, newKeyNotice } from './keys-section.ts'

export function accountView(view: AccountView): Html {
  const { account, notice: said, words } = view
  const { t } = words
  return html`<p class="lead">${account.email}${account.role === 'user' ? '' : `, ${roleName(account.role, words)}`}</p>
<p class="hint">${readsText(view)}</p>
${notice(said)}${view.newKey && newKeyNotice(view.newKey, words)}${account.emailVerifiedMs === null ? unverified(view) : undefined}
${keysSection(view)}${preferencesSection(view)}${account.tenantSlug === null ? ordinarySections(view) : profile(view)}
<section class="card" aria-labelledby="leave">
<h2 id="leave">${t('Sign out')}</h2>
<form method="post" action="sign-out"><button class="button">${t('Sign out of this browser')}</button></form>
</section>
${account.role === 'operator' ? undefined : deletion(view)}`
}

function readsText({ account, reads, words: { t } }: AccountView): string {
  if (reads === 'open')
    return t('Everybody who reaches this address can read all devices, without an account (READS=open).')
  const scope = readScopeOfAccount(account)
  if (scope === 'EMAIL_UNVERIFIED') return t('You can read devices once your address is confirmed (READS=private).')
  return scope.owner === undefined
    ? t('You can read all devices (READS=private).')
    : t('You can read the devices that you own (READS=private).')
}

function ordinarySections(view: AccountView): Html {
  return html`${profile(view)}${email(view)}${password(view)}`
}

function unverified(view: AccountView): Html {
  const { t } = view.words
  return html`<form class="notice" method="post" action="verify"><input type="hidden" name="form" value="ask">
<input type="hidden" name="email" value="${view.account.email}">
<p>${mailSentence(t('Your address is not confirmed yet: a mail with a link was sent there.'), view, view.words)}</p>
<p class="buttons"><button class="button">${t('Send it again')}</button></p></form>
`
}

function profile(view: AccountView): Html {
  const { t } = view.words
  const sent = stateOf(view.forms, 'profile')
  const state = sent === emptyForm ? { ...emptyForm, values: { name: view.account.name ?? '' } } : sent
  const fields = field(view.words, 'profile', state, {
    name: 'name',
    label: t('Name'),
    autocomplete: 'name',
    isOptional: true,
  })
  const markup = {
    name: 'profile',
    action: 'account',
    state,
    fields,
    submit: t('Save'),
    tone: 'plain',
    isCard: false,
  } as const
  return section('profile', t('Profile'), form(markup))
}

function email(view: AccountView): Html {
  const { t } = view.words
  const state = stateOf(view.forms, 'email')
  const fields = [
    field(view.words, 'email', state, {
      name: 'email',
      label: t('New e-mail address'),
      type: 'email',
      autocomplete: 'email',
    }),
    currentPassword('email', state, view.words),
    userName(view.account),
  ]
  const markup = {
    name: 'email',
    action: 'account',
    state,
    fields,
    submit: t('Change the address'),
    tone: 'plain',
    isCard: false,
  } as const
  return section('email', t('E-mail address'), form(markup))
}

function password(view: AccountView): Html {
  const { t } = view.words
  const state = stateOf(view.forms, 'password')
  const fields = [
    userName(view.account),
    currentPassword('password', state, view.words),
    field(view.words, 'password', state, {
      name: 'new_password',
      label: t('New password'),
      type: 'password',
      autocomplete: 'new-password',
      hint: passwordHint(view.words),
    }),
  ]
  const markup = {
    name: 'password',
    action: 'account',
    state,
    fields,
    submit: t('Change the password'),
    tone: 'plain',
    isCard: false,
  } as const
  return section('password', t('Password'), form(markup))
}

/** Gives a password manager the name for the password. */
function userName({ email }: Account): Html {
  return html`<input type="text" name="username" autocomplete="username" value="${email}" hidden>
`
}

function currentPassword(form: string, state: FormState, words: Words): Html {
  const { t } = words
  return field(words, form, state, {
    name: 'current_password',
    label: t('Current password'),
    type: 'password',
    autocomplete: 'current-password',
  })
}

function deletion(view: AccountView): Html {
  const { t } = view.words
  const state = stateOf(view.forms, 'delete')
  const fault = state.faults['sure']
  const invalid =
    fault === undefined ? undefined : html` aria-invalid="true" aria-describedby="delete-sure-error" autofocus`
  const fields = html`<p class="hint">${t('With everything that belongs to it, for good.')}</p>
${fault === undefined ? undefined : html`<p class="error" id="delete-sure-error">${fault}</p>\n`}<label class="check">
<input type="checkbox" name="sure" value="yes" required${invalid}> ${t('I am sure')}</label>
`
  const markup = {
    name: 'delete',
    action: 'account',
    state,
    fields,
    submit: t('Delete the account'),
    tone: 'danger',
  } as const
  return section('delete', t('Delete the account'), form({ ...markup, isCard: false }))
}

interface Choice {
  name: string
  label: string
  /** Text of the first, empty option. */
  usual: string
  options: readonly { value: string; text: string }[]
}

const unitsOf = (codes: readonly string[]) => codes.map(value => ({ value, text: signOf(value) }))

function choicesIn({ t }: Words): readonly Choice[] {
  const usualUnit = t('As measured')
  return [
    {
      name: 'language',
      label: t('Language'),
      usual: t('As in the browser'),
      options: languages.map(value => ({ value, text: languageNames[value] })),
    },
    { name: 'temperature_unit', label: t('Temperature'), usual: usualUnit, options: unitsOf(temperatureUnits) },
    { name: 'pressure_unit', label: t('Air pressure'), usual: usualUnit, options: unitsOf(pressureUnits) },
    { name: 'speed_unit', label: t('Wind and other speeds'), usual: usualUnit, options: unitsOf(speedUnits) },
    {
      name: 'time_zone',
      label: t('Times'),
      usual: t('In the zone of the page'),
      options: ['UTC', ...Intl.supportedValuesOf('timeZone')].map(value => ({ value, text: value })),
    },
  ]
}

function preferencesSection({ account, forms, words }: AccountView): Html {
  const { t } = words
  const sent = formState(forms, 'preferences')
  const state = sent === emptyForm ? { ...emptyForm, values: textsOf(account.preferences) } : sent
  const fields = [
    html`<p class="hint">${t('What the pages show. Files of CSV and the API have the units as measured and times in UTC; days, hours and statistics of analyses stay in the zone of the page: the zone of its station, or of the service.')}</p>
`,
    ...choicesIn(words).map(choice => select(choice, state)),
  ]
  const markup = { name: 'preferences', action: 'account', state, fields, submit: t('Save'), tone: 'plain' } as const
  return section('preferences', t('Units and time zone'), form({ ...markup, isCard: false }))
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
