/** Operations on a person's own account: profile, password, and preferences of pages. */

import { changePassword } from '../../auth/accounts/password-changes.ts'
import {
  languages,
  Preferences,
  pressureUnits,
  speedUnits,
  temperatureUnits,
} from '../../auth/accounts/preference-values.ts'
import { changePreferences, changeProfile, deleteAccount, requestEmailChange } from '../../auth/accounts/profile.ts'
import type { Principal } from '../../auth/policy.ts'
import { writeSessionCookie } from '../../auth/sessions/cookie-chunks.ts'
import { isTimeZone } from '../../auth/time-zone.ts'
import { type AccountService, accountOf } from './account-service.ts'
import { oneOf, record, refine, text } from './kit/fields.ts'
import { type AccountOperation, operation } from './kit/operation.ts'
import {
  isoTime,
  Message,
  PasswordChangeRequest,
  ProfileResponse,
  profileResponse,
  SessionInfo,
  UserResponse,
  UserUpdate,
  userResponse,
} from './schemas.ts'

export function profileOperations(service: AccountService): AccountOperation[] {
  const { accounts, settings } = service
  return [
    operation({
      method: 'GET',
      path: '/me',
      name: 'get_me',
      summary: 'The profile of the current user',
      permission: 'profile.read',
      success: { status: 200, description: 'The user', json: ProfileResponse },
      refusals: ['UNAUTHENTICATED', 'UNAVAILABLE'],
      handle: async ({ principal }) => ({ ok: true, value: profileResponse(accountOf(principal)) }),
    }),
    operation({
      method: 'PATCH',
      path: '/me',
      name: 'update_me',
      summary: 'Change the profile of the current user',
      permission: 'account.manage',
      body: { json: UserUpdate },
      success: { status: 200, description: 'The user', json: UserResponse },
      refusals: ['PASSWORD_WRONG', 'UNAUTHENTICATED', 'FORBIDDEN', 'CROSS_SITE', 'EMAIL_TAKEN', 'TOO_MANY_REQUESTS'],
      async handle({ principal, body: { email, current_password, name, image }, client }) {
        const account = accountOf(principal)
        if (email !== undefined) {
          if (current_password === undefined || current_password === null) {
            return { ok: false, code: 'FIELD_MISSING', field: 'current_password' }
          }
          const change = { email, currentPassword: current_password }
          const requested = await requestEmailChange(accounts, account, change, client)
          if (!requested.ok) return requested
        }
        const changed = await changeProfile(accounts, account, { name, image })
        return changed.ok ? { ok: true, value: userResponse(changed.value) } : { ok: false, code: 'UNAUTHENTICATED' }
      },
    }),
    operation({
      method: 'DELETE',
      path: '/me',
      name: 'delete_me',
      summary: 'Delete the account of the current user for good',
      permission: 'account.manage',
      success: { status: 204, description: 'The account is deleted' },
      refusals: [
        'UNAUTHENTICATED',
        'FORBIDDEN',
        'CROSS_SITE',
        'SESSION_TOO_OLD',
        'OPERATOR_STAYS',
        'LAST_ADMINISTRATOR',
        'UNAVAILABLE',
      ],
      async handle({ principal }) {
        const account = accountOf(principal)
        if (account.role === 'operator') return { ok: false, code: 'OPERATOR_STAYS' }
        const isFresh = accounts.nowMs() - signedInMsOf(principal) <= settings.deleteWithinMs
        return isFresh ? await deleteAccount(accounts, account) : { ok: false, code: 'SESSION_TOO_OLD' }
      },
    }),
  ]
}

export function passwordAndSessionOperations(service: AccountService): AccountOperation[] {
  const { accounts, sessions, codec } = service
  return [
    operation({
      method: 'POST',
      path: '/password/change',
      name: 'change_password',
      summary: 'Set a new password with the current one; ends all other sessions',
      permission: 'account.manage',
      body: { json: PasswordChangeRequest },
      success: { status: 200, description: 'The password is set; the answer has a new session cookie', json: Message },
      refusals: ['PASSWORD_WRONG', 'UNAUTHENTICATED', 'FORBIDDEN', 'CROSS_SITE', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
      async handle({ principal, body: { current_password, new_password }, client }) {
        const account = accountOf(principal)
        const change = {
          currentPassword: current_password,
          newPassword: new_password,
          sessionLifetimeMs: sessions.cookieLifetimeMs,
        }
        const changed = await changePassword(accounts, account, change, client)
        if (!changed.ok) return changed
        const { token, expiresMs } = await sessions.issueCookie(account, changed.value)
        const cookies = writeSessionCookie(codec.cookieName, token, { isSecure: codec.isSecure, expiresMs })
        return { ok: true, value: { message: 'Password changed' }, cookies }
      },
    }),
    operation({
      method: 'GET',
      path: '/session/info',
      name: 'get_session_info',
      summary: 'The current user and session',
      permission: 'session.read',
      success: { status: 200, description: 'The session in the form of Auth.js', json: SessionInfo },
      refusals: ['UNAUTHENTICATED', 'UNAVAILABLE'],
      async handle({ principal }) {
        if (principal?.kind !== 'session' && principal?.kind !== 'bearer') return { ok: false, code: 'UNAUTHENTICATED' }
        const { id, name, email, image } = principal.account
        const user = { id: String(id), name, email, image }
        return { ok: true, value: { user, expires: isoTime(principal.expiresMs) } }
      },
    }),
  ]
}

/** An unknown time counts as long ago. */
function signedInMsOf(principal: Principal | undefined): number {
  const known = principal?.kind === 'session' ? principal.signedInMs : undefined
  return known ?? Number.NEGATIVE_INFINITY
}

const zoneName = () =>
  refine(text({ max: 64, description: 'An IANA name, as Europe/Berlin' }), name =>
    isTimeZone(name) ? undefined : 'the time zone is not known',
  )

export const PreferencesUpdate = record('PreferencesUpdate', {
  language: oneOf(languages).nullish(),
  temperature_unit: oneOf(temperatureUnits).nullish(),
  pressure_unit: oneOf(pressureUnits).nullish(),
  speed_unit: oneOf(speedUnits).nullish(),
  time_zone: zoneName().nullish(),
})

const success = {
  status: 200,
  description:
    'Language, units as UCUM codes, and time zone. Null means the language of the browser, the unit of the metric, or the time zone of the service.',
  json: Preferences.meta({ id: 'Preferences', title: 'Preferences' }),
} as const

export function preferencesOperations({ accounts }: AccountService): AccountOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/me/preferences',
      name: 'get_my_preferences',
      summary: 'Language, units and time zone of the current user on the pages',
      permission: 'profile.read',
      success,
      refusals: ['UNAUTHENTICATED', 'UNAVAILABLE'],
      handle: async ({ principal }) => ({ ok: true, value: accountOf(principal).preferences }),
    }),
    operation({
      method: 'PATCH',
      path: '/me/preferences',
      name: 'update_my_preferences',
      summary: 'Change the language, the units and the time zone of the current user on the pages',
      description: 'Missing fields stay unchanged; null resets one. Answers of the API do not depend on them.',
      permission: 'account.manage',
      body: { json: PreferencesUpdate },
      success,
      refusals: ['UNAUTHENTICATED', 'FORBIDDEN', 'CROSS_SITE', 'UNAVAILABLE'],
      async handle({ principal, body }) {
        const changed = await changePreferences(accounts, accountOf(principal), body)
        return changed.ok ? { ok: true, value: changed.value.preferences } : { ok: false, code: 'UNAUTHENTICATED' }
      },
    }),
  ]
}
