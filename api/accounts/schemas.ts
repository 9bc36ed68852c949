/** Declares the request and response bodies of the account service. */

import { z } from 'zod'
import type { Account } from '../../auth/accounts/account.ts'
import { isCommonPassword } from '../../auth/accounts/common-passwords.ts'
import { passwordLength } from '../../auth/accounts/passwords.ts'
import { boolean, email, integer, record, refine, text } from './kit/fields.ts'

/** Only new passwords follow these rules. Older ones may be of any kind. */
const newPassword = () =>
  refine(text({ ...passwordLength, isPassword: true }), password =>
    isCommonPassword(password) ? 'the password is one of the most common ones' : undefined,
  )
const knownPassword = () => text({ isPassword: true })
const name = () => text({ min: 1, max: 100 }).nullish()
const image = () =>
  refine(text({ max: 2048 }), address => (isHttps(address) ? undefined : 'the address has to begin with https://'), {
    format: 'uri',
    pattern: httpsForm,
  }).nullish()

/** A host name is required. Other forms that browsers accept are allowed, too. */
const httpsForm =
  '^https://(?:[A-Za-z0-9]+[.-])*[A-Za-z][A-Za-z0-9]*(?::[0-9]{1,4})?(?:[/?#][^\\u0000-\\u001f\\u007f]*)?$'

function isHttps(address: string): boolean {
  return address.startsWith('https://') && URL.canParse(address)
}

const token = () => text({ max: 200 })

export const UserCreate = record('UserCreate', {
  email: email(),
  password: newPassword(),
  name: name(),
  token: text({ max: 200, description: 'Token of an invitation; required with SIGN_UP=invited' }).nullish(),
})
export const LoginCredentials = record('LoginCredentials', { email: email(), password: knownPassword() })
export const EmailVerificationRequest = record('EmailVerificationRequest', { email: email() })
export const TokenVerificationRequest = record('TokenVerificationRequest', { token: token(), email: email().nullish() })
export const PasswordResetRequest = record('PasswordResetRequest', { email: email() })
export const PasswordResetComplete = record('PasswordResetComplete', { token: token(), new_password: newPassword() })
export const PasswordChangeRequest = record('PasswordChangeRequest', {
  current_password: knownPassword(),
  new_password: newPassword(),
})
export const UserUpdate = record('UserUpdate', {
  name: name(),
  image: image(),
  email: email().optional(),
  current_password: knownPassword().nullish(),
})
/** The provider's tokens are accepted and not stored: the service does not use them. */
export const OAuthUserData = record('OAuthUserData', {
  email: email(),
  provider: text({ min: 1, max: 100 }),
  provider_account_id: text({ min: 1, max: 255 }),
  name: name(),
  image: image(),
  email_verified: boolean().nullish(),
  access_token: text().nullish(),
  refresh_token: text().nullish(),
  expires_at: integer({ min: 0 }).nullish(),
})
export const UserPath = record('UserPath', { user_id: integer() })
export const EmailPath = record('EmailPath', { email: text() })

const time = () => z.iso.datetime()

export const UserResponse = z
  .object({
    id: z.int(),
    email: z.string(),
    name: z.string().nullable(),
    image: z.string().nullable(),
    email_verified: time().nullable(),
    is_active: z.boolean(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'UserResponse', title: 'UserResponse' })
export type UserResponse = z.infer<typeof UserResponse>

export const ProfileResponse = UserResponse.extend({ tenant_slug: z.string().optional() }).meta({
  id: 'ProfileResponse',
  title: 'ProfileResponse',
})

export const Message = z.object({ message: z.string() }).meta({ id: 'Message', title: 'Message' })

export const TokenResponse = z
  .object({ access_token: z.string(), token_type: z.literal('bearer'), expires_in: z.int() })
  .meta({ id: 'TokenResponse', title: 'TokenResponse' })

export const SessionInfo = z
  .object({
    user: z.object({ id: z.string(), name: z.string().nullable(), email: z.string(), image: z.string().nullable() }),
    expires: time(),
  })
  .meta({ id: 'SessionInfo', title: 'SessionInfo' })

export function userResponse(account: Account): UserResponse {
  const { id, email, name, image, emailVerifiedMs, isActive, createdMs, updatedMs } = account
  return {
    id,
    email,
    name,
    image,
    email_verified: emailVerifiedMs === null ? null : isoTime(emailVerifiedMs),
    is_active: isActive,
    created_at: isoTime(createdMs),
    updated_at: isoTime(updatedMs),
  }
}

/** The response also names the partner of an account. */
export function profileResponse(account: Account): z.infer<typeof ProfileResponse> {
  const { tenantSlug } = account
  return { ...userResponse(account), ...(tenantSlug === null ? {} : { tenant_slug: tenantSlug }) }
}

export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString()
}
