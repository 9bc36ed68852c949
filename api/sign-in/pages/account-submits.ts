/** Submits the forms of the account page, by name. */

import { changePassword } from '../../../auth/accounts/password-changes.ts'
import { changePreferences } from '../../../auth/accounts/preferences.ts'
import { changeProfile, deleteAccount, requestEmailChange } from '../../../auth/accounts/profile.ts'
import { tagsIn } from '../../../auth/devices/tag.ts'
import type { NewKey } from '../../../auth/keys/key-rows.ts'
import { type AccountRefusal, refused } from '../../../auth/outcome.ts'
import { scopesOf } from '../../../auth/policy.ts'
import { endSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import type { SignedIn } from '../../../auth/sessions/session-claims.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import { CreateApiKeyRequest } from '../../accounts/api-keys.ts'
import { email, record, text } from '../../accounts/kit/fields.ts'
import { PreferencesUpdate } from '../../accounts/preferences.ts'
import { PasswordChangeRequest, UserUpdate } from '../../accounts/schemas.ts'
import { checkForm, type FormState, formFault } from './form.ts'
import type { FormFields, PageAnswer, PageRequest } from './page.ts'
import { cookiesOf } from './visits.ts'

export type Submitted =
  | Extract<PageAnswer, { kind: 'redirect' }>
  /** The form is shown again. */
  | { kind: 'invalid'; state: FormState }
  | { kind: 'refused'; refusal: AccountRefusal }
  /** A redirect would lose the key, which only this answer has. */
  | { kind: 'key'; newKey: NewKey }

export type Submit = (visit: PageRequest<SignedIn>, fields: FormFields) => Promise<Submitted>

const ProfileForm = UserUpdate.pick({ name: true })
const EmailChangeForm = record('EmailChangeForm', { email: email(), current_password: text({ isPassword: true }) })

export function accountSubmits(service: AccountService): Readonly<Record<string, Submit>> {
  return { ...profileSubmits(service), ...keySubmits(service), delete: deletion(service) }
}

function profileSubmits(service: AccountService): Record<string, Submit> {
  const { accounts, sessions } = service
  return {
    async profile({ visitor: { account } }, fields) {
      const checked = checkForm(ProfileForm, fields)
      if (!checked.ok) return invalid(checked.state)
      const changed = await changeProfile(accounts, account, { name: checked.value.name ?? null })
      return changed.ok ? done('profile') : refusal(changed)
    },
    async preferences({ visitor: { account } }, fields) {
      const checked = checkForm(PreferencesUpdate, fields)
      if (!checked.ok) return invalid(checked.state)
      const { temperature_unit = null, pressure_unit = null, speed_unit = null, time_zone = null } = checked.value
      const change = { temperature_unit, pressure_unit, speed_unit, time_zone }
      const changed = await changePreferences(accounts, account, change)
      return changed.ok ? done('preferences') : refusal(changed)
    },
    async email({ visitor: { account }, client }, fields) {
      const checked = checkForm(EmailChangeForm, fields)
      if (!checked.ok) return invalid(checked.state)
      const { email, current_password: currentPassword } = checked.value
      const requested = await requestEmailChange(accounts, account, { email, currentPassword }, client)
      return requested.ok ? done('email') : refusal(requested)
    },
    async password({ visitor: { account }, client }, fields) {
      const checked = checkForm(PasswordChangeRequest, fields)
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
    async 'create-key'({ visitor: { account } }, fields) {
      const scopes = scopesOf(account.role).filter(scope => fields[`scope-${scope}`] === 'yes')
      const createDevices = fields['create_devices'] === 'yes'
      const given = { scopes, create_devices: createDevices, tags: tagsIn(fields['tags'] ?? '') }
      const checked = checkForm(CreateApiKeyRequest, fields, given)
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
  return async ({ visitor: { account, signedInMs = Number.NEGATIVE_INFINITY } }, fields) => {
    if (fields['sure'] !== 'yes') return invalid(formFault(fields, 'sure', 'Please tick this.'))
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
