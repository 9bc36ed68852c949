/** Verifies an address and resets a password, with tokens that are sent by mail. */

import { resetPassword } from '../../auth/accounts/password-changes.ts'
import { requestToken, verifyEmail } from '../../auth/accounts/verification.ts'
import type { AccountService } from './account-service.ts'
import { type AccountOperation, operation } from './kit/operation.ts'
import { limit, mailRequestLimit, redeemLimit } from './limits.ts'
import {
  EmailVerificationRequest,
  Message,
  PasswordResetComplete,
  PasswordResetRequest,
  TokenVerificationRequest,
} from './schemas.ts'

export function mailTokenOperations(service: AccountService): AccountOperation[] {
  const { accounts } = service
  return [
    operation({
      method: 'POST',
      path: '/verification/request',
      name: 'request_verification',
      summary: 'Send a token that verifies an e-mail address',
      body: { json: EmailVerificationRequest },
      success: { status: 200, description: 'The same for every address', json: Message },
      refusals: ['TOO_MANY_REQUESTS', 'UNAVAILABLE'],
      async handle({ body: { email }, client }) {
        const refusal = await limit(service, mailRequestLimit(service, 'verification'), client)
        if (refusal !== undefined) return refusal
        await requestToken(accounts, 'verification', email)
        const message = 'If the address belongs to an account that is not verified, a verification mail is on its way'
        return { ok: true, value: { message } }
      },
    }),
    operation({
      method: 'POST',
      path: '/verification/verify',
      name: 'verify_email',
      summary: 'Verify an e-mail address with the token that was sent there',
      body: { json: TokenVerificationRequest },
      success: { status: 200, description: 'The address is verified', json: Message },
      refusals: ['TOKEN_INVALID', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
      async handle({ body: { token, email }, client }) {
        const refusal = await limit(service, redeemLimit, client)
        if (refusal !== undefined) return refusal
        const verified = await verifyEmail(accounts, token, email ?? undefined)
        return verified.ok ? { ok: true, value: { message: 'Email verified' } } : verified
      },
    }),
    operation({
      method: 'POST',
      path: '/password/reset-request',
      name: 'request_password_reset',
      summary: 'Send a link that sets a new password',
      body: { json: PasswordResetRequest },
      success: { status: 200, description: 'The same for every address', json: Message },
      refusals: ['TOO_MANY_REQUESTS', 'UNAVAILABLE'],
      async handle({ body: { email }, client }) {
        const refusal = await limit(service, mailRequestLimit(service, 'password-reset'), client)
        if (refusal !== undefined) return refusal
        await requestToken(accounts, 'password-reset', email)
        return { ok: true, value: { message: 'If the address belongs to an account, a reset link is on its way' } }
      },
    }),
    operation({
      method: 'POST',
      path: '/password/reset',
      name: 'reset_password',
      summary: 'Set a new password with the token that was sent; ends all sessions',
      body: { json: PasswordResetComplete },
      aliases: { password: 'new_password' },
      success: { status: 200, description: 'The password is set', json: Message },
      refusals: ['TOKEN_INVALID', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
      async handle({ body: { token, new_password }, client }) {
        const refusal = await limit(service, redeemLimit, client)
        if (refusal !== undefined) return refusal
        const reset = await resetPassword(accounts, token, new_password, client)
        return reset.ok ? { ok: true, value: { message: 'Password set' } } : reset
      },
    }),
  ]
}
