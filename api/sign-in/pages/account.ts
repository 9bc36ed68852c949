/** The page of a person's account, and the changes of its forms. */

import type { Words } from '../../../analytics/findings/words.ts'
import { changePassword } from '../../../auth/accounts/password-changes.ts'
import { changePreferences, changeProfile, deleteAccount, requestEmailChange } from '../../../auth/accounts/profile.ts'
import { tagsIn } from '../../../auth/devices/tag.ts'
import type { NewKey } from '../../../auth/keys/key-rows.ts'
import { type AccountErrorCode, type AccountRefusal, refused } from '../../../auth/outcome.ts'
import { scopesOf } from '../../../auth/policy.ts'
import { endSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import type { SignedIn } from '../../../auth/sessions/session-codec.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import { CreateApiKeyRequest } from '../../accounts/api-keys.ts'
import { errors } from '../../accounts/kit/errors.ts'
import { email, record, text } from '../../accounts/kit/fields.ts'
import { PreferencesUpdate } from '../../accounts/profile.ts'
import { PasswordChangeRequest, UserUpdate } from '../../accounts/schemas.ts'
import { checkForm, type FormState, formAlert, formFault, refusalSentence } from './form.ts'
import type { AccountView } from './html/account-model.ts'
import { accountView } from './html/account-view.ts'
import { mailSentence } from './html/fields.ts'
import {
  accountPage,
  cookiesOf,
  type FormFields,
  type Page,
  type PageAnswer,
  type PageRequest,
  type ShownPage,
} from './page.ts'

type Submitted =
  | Extract<PageAnswer, { kind: 'redirect' }>
  /** The form is shown again. */
  | { kind: 'invalid'; state: FormState }
  | { kind: 'refused'; refusal: AccountRefusal }
  /** A redirect would lose the key, which only this answer has. */
  | { kind: 'key'; newKey: NewKey }

type Submit = (visit: PageRequest<SignedIn>, fields: FormFields) => Promise<Submitted>

const ProfileForm = UserUpdate.pick({ name: true })
const EmailChangeForm = record('EmailChangeForm', { email: email(), current_password: text({ isPassword: true }) })

function accountSubmits(service: AccountService): Readonly<Record<string, Submit>> {
  return { ...profileSubmits(service), ...keySubmits(service), delete: deletion(service) }
}

function profileSubmits(service: AccountService): Record<string, Submit> {
  const { accounts, sessions } = service
  return {
    async profile({ visitor: { account }, words }, fields) {
      const checked = checkForm(words, ProfileForm, fields)
      if (!checked.ok) return invalid(checked.state)
      const changed = await changeProfile(accounts, account, { name: checked.value.name ?? null })
      return changed.ok ? done('profile') : refusal(changed)
    },
    async preferences({ visitor: { account }, words }, fields) {
      const checked = checkForm(words, PreferencesUpdate, fields)
      if (!checked.ok) return invalid(checked.state)
      const {
        language = null,
        temperature_unit = null,
        pressure_unit = null,
        speed_unit = null,
        time_zone = null,
      } = checked.value
      const change = { language, temperature_unit, pressure_unit, speed_unit, time_zone }
      const changed = await changePreferences(accounts, account, change)
      return changed.ok ? done('preferences') : refusal(changed)
    },
    async email({ visitor: { account }, client, words }, fields) {
      const checked = checkForm(words, EmailChangeForm, fields)
      if (!checked.ok) return invalid(checked.state)
      const { email, current_password: currentPassword } = checked.value
      const requested = await requestEmailChange(accounts, account, { email, currentPassword }, client)
      return requested.ok ? done('email') : refusal(requested)
    },
    async password({ visitor: { account }, client, words }, fields) {
      const checked = checkForm(words, PasswordChangeRequest, fields)
      if (!checked.ok) return invalid(checked.state)
      const { current_password: currentPassword, new_password: newPassword } = checked.value
      const change = { currentPassword, newPassword, sessionLifetimeMs: sessions.cookieLifetimeMs }
      const changed = await changePassword(accounts, account, change, client)
      if (!changed.ok) return refusal(changed)
      return { ...done('password'), cookies: await cookiesOf(service, account, changed.value) }
    },
  }
}

function keySubmits({ keys }: AccountService): Record<string, Submit> {
  return {
    async 'create-key'({ visitor: { account }, words }, fields) {
      const scopes = scopesOf(account.role).filter(scope => fields[`scope-${scope}`] === 'yes')
      const createDevices = fields['create_devices'] === 'yes'
      const given = { scopes, create_devices: createDevices, tags: tagsIn(fields['tags'] ?? '') }
      const checked = checkForm(words, CreateApiKeyRequest, fields, given)
      if (!checked.ok) return invalid(checked.state)
      const { name, expires_in_days, tags = [] } = checked.value
      const wanted = { name, scopes, createDevices, tags, expiresInDays: expires_in_days ?? undefined }
      const created = await keys.create(account, wanted)
      return created.ok ? { kind: 'key', newKey: created.value } : refusal(created)
    },
    async 'revoke-key'({ visitor: { account } }, fields) {
      const id = /^\d{1,10}$/.test(fields['key_id'] ?? '') ? Number(fields['key_id']) : 0
      const revoked = await keys.revoke(account, id)
      return revoked.ok ? done('revoked') : refusal(revoked)
    },
  }
}

function deletion({ accounts, codec, settings }: AccountService): Submit {
  return async ({ visitor: { account, signedInMs = Number.NEGATIVE_INFINITY }, words: { t } }, fields) => {
    if (fields['sure'] !== 'yes') return invalid(formFault(fields, 'sure', t('Please tick this.')))
    const isFresh = accounts.nowMs() - signedInMs <= settings.deleteWithinMs
    const deleted = isFresh ? await deleteAccount(accounts, account) : refused('SESSION_TOO_OLD')
    if (!deleted.ok) return refusal(deleted)
    const cookies = endSessionCookie(codec.cookieName, codec.isSecure)
    return { kind: 'redirect', to: 'sign-in?done=deleted', cookies }
  }
}

const done = (what: string): Extract<Submitted, { kind: 'redirect' }> => ({
  kind: 'redirect',
  to: `account?done=${what}`,
})
const invalid = (state: FormState): Submitted => ({ kind: 'invalid', state })
const refusal = (refusal: AccountRefusal): Submitted => ({ kind: 'refused', refusal })

type Visit = PageRequest<SignedIn>

export function accountPageOf(service: AccountService): Page {
  const { accounts, keys, settings } = service
  const submits = accountSubmits(service)

  /** The whole page, with the result of one of its forms. */
  async function view(
    { visitor: { account }, words }: Visit,
    more: Partial<AccountView>,
    status = 200,
  ): Promise<ShownPage> {
    const { sendsMail, reads } = settings
    const known = { account, keys: await keys.list(account), nowMs: accounts.nowMs(), sendsMail, reads, words }
    const shown = { ...known, forms: {}, notice: undefined }
    const main = accountView({ ...shown, ...more })
    return { kind: 'page', status, title: words.t('Your account'), main, copies: more.newKey !== undefined }
  }

  function answer(
    visit: Visit,
    name: string,
    fields: FormFields,
    submitted: Submitted,
  ): PageAnswer | Promise<PageAnswer> {
    switch (submitted.kind) {
      case 'redirect':
        return submitted
      case 'key':
        return view(visit, { newKey: submitted.newKey })
      case 'invalid':
        return view(visit, { forms: { [name]: submitted.state } }, 422)
      case 'refused':
        return refuse(visit, name, fields, submitted)
    }
  }

  /** Shows the error beside its field, if it has one. */
  async function refuse(
    visit: Visit,
    name: string,
    fields: FormFields,
    { refusal }: Extract<Submitted, { kind: 'refused' }>,
  ): Promise<PageAnswer> {
    const { code, retryAfterSeconds } = refusal
    const text = refusalSentence(refusal, visit.words)
    const field = fieldsOfRefusals[code]
    const state = field === undefined ? formAlert(fields, text) : formFault(fields, field, text)
    return { ...(await view(visit, { forms: { [name]: state } }, errors[code].status)), retryAfterSeconds }
  }

  return accountPage({
    path: '/account',
    show: visit => view(visit, { notice: noticeOf(visit.argument('done') ?? '', settings, visit.words) }),
    async submit(visit, fields) {
      const { form: name = '' } = fields
      const submit = Object.hasOwn(submits, name) ? submits[name] : undefined
      if (submit === undefined) return await view(visit, {})
      return await answer(visit, name, fields, await submit(visit, fields))
    },
  })
}

const fieldsOfRefusals: Partial<Record<AccountErrorCode, string>> = {
  PASSWORD_WRONG: 'current_password',
  EMAIL_TAKEN: 'email',
}

/** Shown once after the action. */
const noticesIn = ({ t }: Words): ReadonlyMap<string, string> =>
  new Map([
    [
      'signed-up',
      t('Your account is created. Open the link in the mail that was sent to you to confirm your address.'),
    ],
    ['profile', t('Your profile is changed.')],
    ['preferences', t('Your units and time zone are saved.')],
    ['revoked', t('The key is revoked.')],
    ['password', t('Your password is changed. All your other sessions have ended.')],
  ])

function noticeOf(done: string, settings: AccountService['settings'], words: Words): string | undefined {
  if (done !== 'email') return noticesIn(words).get(done)
  const text = words.t('A mail with a link was sent to the new address. The address changes when you open the link.')
  return mailSentence(text, settings, words)
}
