/** Serves invitations to administrators: lists open ones, adds and revokes. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import { invitationPage, invite, revokeInvitation } from '../../auth/accounts/invitation.ts'
import { InvitationPage, IssuedInvitation, invitedRoles } from '../../auth/accounts/invitation-details.ts'
import type { SignUpMode } from '../../auth/accounts/sign-up.ts'
import { setRetryAfter } from '../http/errors.ts'
import { Email } from './accounts.ts'
import { type AdminOperation, operation } from './operation.ts'
import { sendProblem } from './problem.ts'
import { PageQuery, recordId } from './request-fields.ts'

export interface AdminInvitationsOptions {
  accounts: Accounts
  signUp: SignUpMode
  /** Address of the page that links open. */
  publicUrl: () => string
}

export const NewInvitation = z.strictObject({
  email: Email,
  role: z.enum(invitedRoles).default('user'),
  viewer: z.boolean().default(false),
  mail: z.boolean().default(true).meta({ description: 'True also mails a link, which verifies the address, too.' }),
})

export function invitationOperations(options: AdminInvitationsOptions): AdminOperation[] {
  const { accounts, signUp, publicUrl } = options
  return [
    operation({
      method: 'GET',
      path: '/invitations',
      name: 'admin_list_invitations',
      summary: 'The open invitations',
      parameters: { query: PageQuery },
      success: { status: 200, description: 'A page of them', json: InvitationPage.meta({ id: 'AdminInvitationPage' }) },
      handle: async ({ query }, reply) => reply.send(await invitationPage(accounts.pool, query.page, accounts.nowMs())),
    }),
    operation({
      method: 'POST',
      path: '/invitations',
      name: 'admin_invite',
      summary: 'Invite a person to make an account',
      description:
        'For this address, good once and for 7 days. A newer one for the same address replaces it. The link in the answer is shown only once.',
      body: { json: NewInvitation.meta({ id: 'AdminNewInvitation' }) },
      success: {
        status: 201,
        description: 'The invitation with its link',
        json: IssuedInvitation.meta({ id: 'AdminIssuedInvitation' }),
      },
      refusals: [
        'EMAIL_TAKEN',
        'SIGN_UP_OFF',
        'TOO_MANY_INVITATIONS',
        'TOO_MANY_REQUESTS',
        'TOO_BUSY',
        'OUTCOME_UNKNOWN',
      ],
      async handle({ body: { mail: isMailed, ...invited }, actor }, reply) {
        if (signUp === 'off') return sendProblem(reply, 'SIGN_UP_OFF', { detail: signUpOff })
        const made = await invite(accounts, { ...invited, isMailed }, actor)
        if (!made.ok) return refuse(reply, made)
        const { invitation, token } = made.value
        const answer: IssuedInvitation = { ...invitation, link: `${publicUrl()}/sign-up?token=${token}` }
        return reply.code(201).send(answer)
      },
    }),
    operation({
      method: 'DELETE',
      path: '/invitations/:id',
      name: 'admin_revoke_invitation',
      summary: 'Revoke an invitation',
      parameters: { path: z.object({ id: recordId }) },
      success: { status: 204, description: 'It is revoked' },
      refusals: ['INVITATION_UNKNOWN', 'OUTCOME_UNKNOWN'],
      pathError: 'INVITATION_UNKNOWN',
      async handle({ path: { id }, actor }, reply) {
        const isRevoked = await revokeInvitation(accounts, id, actor)
        return isRevoked ? reply.code(204).send() : sendProblem(reply, 'INVITATION_UNKNOWN')
      },
    }),
  ]
}

const signUpOff = 'sign-up is off (SIGN_UP=off), so an invitation has no effect: add the account instead'

function refuse(reply: FastifyReply, refusal: Exclude<Awaited<ReturnType<typeof invite>>, { ok: true }>): FastifyReply {
  switch (refusal.code) {
    case 'EMAIL_TAKEN':
      return sendProblem(reply, 'EMAIL_TAKEN', { errors: [{ path: 'email', message: 'belongs to an account' }] })
    case 'TOO_MANY_INVITATIONS':
      return sendProblem(reply, 'TOO_MANY_INVITATIONS', { detail: 'revoke some of those that are open' })
    case 'TOO_MANY_REQUESTS':
      return sendProblem(setRetryAfter(reply, refusal.retryAfterSeconds), 'TOO_MANY_REQUESTS', {
        detail: 'too many invitations in an hour, or for this address',
      })
  }
}
