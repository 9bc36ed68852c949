/** Renders the fields of a new account. */

import type { Html } from '../../../http/html.ts'
import type { FormState } from '../form.ts'
import { field } from './fields.ts'

export const passwordHint = 'At least 8 characters; a few words that do not belong together are good.'

export function newAccountFields(form: string, state: FormState, { isEmailFixed = false } = {}): Html[] {
  return [
    field(form, state, { name: 'name', label: 'Name', autocomplete: 'name', isOptional: true, isFirst: true }),
    field(form, state, {
      name: 'email',
      label: 'E-mail address',
      type: 'email',
      autocomplete: 'username',
      isFixed: isEmailFixed,
    }),
    field(form, state, {
      name: 'password',
      label: 'Password',
      type: 'password',
      autocomplete: 'new-password',
      hint: passwordHint,
    }),
  ]
}
