/** Reads and shows forms, with protection against cross-site requests. */

import { MIMEType } from 'node:util'
import type { z } from 'zod'
import type { Words } from '../../../analytics/findings/words.ts'
import type { AccountErrorCode, AccountRefusal } from '../../../auth/outcome.ts'
import { errors } from '../../accounts/kit/errors.ts'
import { check, type ValidationError } from '../../accounts/kit/validation.ts'
import type { FormFields } from './page.ts'

/** More than any form has. */
const fieldsMax = 50

/** Undefined for other media types, invalid UTF-8 and repeated names, which no form sends. */
export function parseForm(bytes: Buffer | undefined, contentType: string | undefined): FormFields | undefined {
  if (!isForm(contentType)) return undefined
  const text = bytes?.toString('latin1') ?? ''
  const pairs = text === '' ? [] : text.split('&', fieldsMax + 1)
  if (pairs.length > fieldsMax) return undefined
  const fields = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const name = decode(at < 0 ? pair : pair.slice(0, at))
    const value = decode(at < 0 ? '' : pair.slice(at + 1))
    if (name === undefined || value === undefined || fields.has(name)) return undefined
    fields.set(name, value)
  }
  return Object.fromEntries(fields)
}

function decode(text: string): string | undefined {
  // Browsers escape all other characters.
  if (/[^\x20-\x7e]/.test(text)) return undefined
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function isForm(contentType: string | undefined): boolean {
  if (contentType === undefined) return false
  try {
    return new MIMEType(contentType).essence === 'application/x-www-form-urlencoded'
  } catch {
    return false
  }
}

/** Values and errors of a form. */
export interface FormState {
  /** Values to fill in again; never a password. */
  values: FormFields
  faults: Readonly<Record<string, string>>
  /** Error of the whole form. */
  alert?: string
}

export const emptyForm: FormState = { values: {}, faults: {} }

type FormCheck<Value> = { ok: true; value: Value } | { ok: false; state: FormState }

/** An empty field counts as missing. `more` has values that several fields form together. */
export function checkForm<Value>(
  words: Words,
  schema: z.ZodType<Value>,
  fields: FormFields,
  more: object = {},
): FormCheck<Value> {
  const filled = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
  const checked = check(schema, 'body', { ...filled, ...more })
  if (checked.ok) return checked
  // Only the first error of a field is shown.
  const faults = Object.fromEntries(
    checked.errors.toReversed().map(error => [String(error.loc[1]), sentenceOf(error, words)]),
  )
  return { ok: false, state: { values: withoutPasswords(fields), faults } }
}

export function formFault(fields: FormFields, name: string, fault: string): FormState {
  return { values: withoutPasswords(fields), faults: { [name]: fault } }
}

export function formAlert(fields: FormFields, alert: string): FormState {
  return { values: withoutPasswords(fields), faults: {}, alert }
}

function withoutPasswords(fields: FormFields): FormFields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.includes('password')))
}

const valueError = 'Value error, '

function sentenceOf({ type, msg, ctx }: ValidationError, { t }: Words): string {
  switch (type) {
    case 'missing':
      return t('Please fill in this field.')
    case 'string_too_short':
      return t('Please use at least {count} characters.', { count: String(ctx?.['min_length']) })
    case 'string_too_long':
      return t('Please use at most {count} characters.', { count: String(ctx?.['max_length']) })
    case 'int_parsing':
    case 'greater_than_equal':
    case 'less_than_equal':
      return t('Please enter a whole number that is possible here.')
    case 'value_error':
      return sentence(ctx?.['reason'] ?? msg)
    default:
      return sentence(msg)
  }
}

function sentence(text: unknown): string {
  const words = String(text)
  const bare = words.startsWith(valueError) ? words.slice(valueError.length) : words
  return `${bare.slice(0, 1).toUpperCase()}${bare.slice(1)}${bare.endsWith('.') ? '' : '.'}`
}

/** Texts that pages show in place of shorter ones of the operations. */
const sentencesIn = ({ t }: Words): Partial<Record<AccountErrorCode, string>> => ({
  ACCOUNT_INACTIVE: t('This account is deactivated.'),
  CREDENTIALS_WRONG: t('The e-mail address or the password is wrong.'),
  EMAIL_UNVERIFIED: t('Please confirm your e-mail address first: keys that send readings need it.'),
  EMAIL_TAKEN: t('This e-mail address belongs to an account already.'),
  PASSWORD_WRONG: t('The current password is wrong.'),
  SESSION_TOO_OLD: t('Please sign out and in again first.'),
  REGISTRATION_CLOSED: t('Sign-up is off: an administrator makes the accounts.'),
  REGISTRATION_INVITED: t('Only who is invited can sign up here: ask an administrator for an invitation.'),
  TOKEN_INVALID: t('This link is not valid any more. It was used already, or it is too old.'),
  TOO_MANY_REQUESTS: t('Too many attempts.'),
})

export function refusalSentence({ code, retryAfterSeconds }: AccountRefusal, words: Words): string {
  const { t } = words
  const said = sentencesIn(words)[code] ?? sentence(errors[code].text)
  return retryAfterSeconds === undefined
    ? said
    : `${said} ${t('Please try again in {duration}.', { duration: waitOf(retryAfterSeconds, words) })}`
}

function waitOf(seconds: number, { tn }: Words): string {
  return seconds < 120
    ? tn(seconds, '{count} second', '{count} seconds')
    : tn(Math.ceil(seconds / 60), '{count} minute', '{count} minutes')
}
