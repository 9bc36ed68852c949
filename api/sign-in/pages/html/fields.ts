/** Fields, links and sentences that several forms share. */

import type { Words } from '../../../../analytics/findings/words.ts'
import type { AccountService } from '../../../accounts/account-service.ts'
import { type Html, html } from '../../../http/html.ts'
import { emptyForm, type FormState } from '../form.ts'

interface Field {
  name: string
  label: string
  type?: 'text' | 'email' | 'password' | 'number'
  /** Value for browsers and password managers. */
  autocomplete: string
  hint?: string
  unit?: string
  isOptional?: boolean
  /** A fixed field is shown and sent, and cannot be changed. */
  isFixed?: boolean
  lengthMax?: number
  range?: { min: number; max: number }
  /** The first field has the focus. */
  isFirst?: boolean
}

/** Names of forms keep ids unique within a page. */
export function field(words: Words, form: string, state: FormState, field: Field): Html {
  const {
    name,
    type = 'text',
    autocomplete,
    hint,
    isOptional = false,
    isFixed = false,
    lengthMax,
    range,
    isFirst = false,
  } = field
  const id = `${form}-${name}`
  const fault = state.faults[name]
  const hasFocus = fault === undefined ? isFirst && !hasFaults(state) : name === Object.keys(state.faults)[0]
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(fault === undefined ? [] : [`${id}-error`])]
  const attributes = [
    type === 'password' ? undefined : html` value="${state.values[name]}"`,
    isOptional ? undefined : html` required`,
    isFixed ? html` readonly` : undefined,
    lengthMax === undefined ? undefined : html` maxlength="${lengthMax}"`,
    range === undefined ? undefined : html` min="${range.min}" max="${range.max}"`,
    hasFocus ? html` autofocus` : undefined,
    fault === undefined ? undefined : html` aria-invalid="true"`,
    described.length === 0 ? undefined : html` aria-describedby="${described.join(' ')}"`,
  ].filter(attribute => attribute !== undefined)
  return html`<div class="field"><label for="${id}">${labelOf(field, words)}</label>
${hint === undefined ? undefined : html`<p class="hint" id="${id}-hint">${hint}</p>\n`}${
  fault === undefined ? undefined : html`<p class="error" id="${id}-error">${fault}</p>\n`
}<input id="${id}" name="${name}" type="${type}" autocomplete="${autocomplete}"${attributes}></div>
`
}

/** `Expires after (days, optional)` */
function labelOf({ label, unit, isOptional = false }: Field, { t }: Words): string {
  const notes = [unit, isOptional ? t('optional') : undefined].filter(note => note !== undefined)
  return notes.length === 0 ? label : `${label} (${notes.join(', ')})`
}

const hasFaults = ({ faults }: FormState): boolean => Object.keys(faults).length > 0

interface FormMarkup {
  name: string
  action: string
  state: FormState
  hidden?: Readonly<Record<string, string>>
  fields: Html | readonly Html[]
  submit: string
  tone?: 'strong' | 'plain' | 'danger'
  isCard?: boolean
}

/** A form with one button, and its error above. A name distinguishes several forms of a page. */
export function form({
  name,
  action,
  state,
  hidden = {},
  fields,
  submit,
  tone = 'strong',
  isCard = true,
}: FormMarkup): Html {
  const unseen = Object.entries({ form: name, ...hidden }).map(
    ([key, value]) => html`<input type="hidden" name="${key}" value="${value}">\n`,
  )
  return html`<form method="post" action="${action}"${isCard ? html` class="card"` : undefined}>
${unseen}${alert(state)}${fields}<p class="buttons">
<button class="button ${tone}">${submit}</button></p>
</form>
`
}

export function alert({ alert }: FormState): Html | undefined {
  return alert === undefined ? undefined : html`<p class="alert" role="alert">${alert}</p>\n`
}

export function notice(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="notice" role="status">${text}</p>\n`
}

/** State of one of several forms on a page. */
export function formState(forms: Readonly<Record<string, FormState>>, name: string): FormState {
  return forms[name] ?? emptyForm
}

export function section(id: string, title: string, content: Html): Html {
  return html`<section class="card" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${content}</section>
`
}

export function mailSentence(
  text: string,
  { sendsMail }: Pick<AccountService['settings'], 'sendsMail'>,
  { t }: Words,
): string {
  if (sendsMail) return text
  return `${text} ${t('This service has no mail server (the setting SMTP_URL), so the mail is a file in the folder mail of its data directory.')}`
}

export function passwordHint({ t }: Words): string {
  return t('At least 8 characters; a few words that do not belong together are good.')
}

export function newAccountFields(words: Words, form: string, state: FormState, { isEmailFixed = false } = {}): Html[] {
  const { t } = words
  return [
    field(words, form, state, {
      name: 'name',
      label: t('Name'),
      autocomplete: 'name',
      isOptional: true,
      isFirst: true,
    }),
    field(words, form, state, {
      name: 'email',
      label: t('E-mail address'),
      type: 'email',
      autocomplete: 'username',
      isFixed: isEmailFixed,
    }),
    field(words, form, state, {
      name: 'password',
      label: t('Password'),
      type: 'password',
      autocomplete: 'new-password',
      hint: passwordHint(words),
    }),
  ]
}
