/** Invitations by HTTP, for administrators: a page of those that are open, a new one, and their revocation. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import { invitationPage } from '../../auth/accounts/invitation.ts'
import { type IssuedInvitation, invitedRoles } from '../../auth/accounts/invitation-details.ts'
import { invite, revokeInvitation } from '../../auth/accounts/invitations.ts'
import type { SignUpMode } from '../../auth/accounts/sign-up.ts'
import { Email } from './accounts.ts'
import { actorIn } from './guard.ts'
import { addPath } from './paths.ts'
import { sendInvalid, sendProblem } from './problem.ts'
import { pageNumber } from './query-fields.ts'
import { idIn } from './record-id.ts'

export interface AdminInvitationsOptions {
  accounts: Accounts
  signUp: SignUpMode
  /** Where the page is that a link leads to. */
  publicUrl: () => string
}

const ListQuery = z.strictObject({ page: pageNumber })

export const NewInvitation = z.strictObject({
  email: Email,
  role: z.enum(invitedRoles).default('user'),
  viewer: z.boolean().default(false),
  mail: z
    .boolean()
    .default(true)
    .meta({ description: 'Whether the person also gets a mail with a link. That one verifies the address, too.' }),
})

export function registerInvitations(scope: FastifyInstance, options: AdminInvitationsOptions): void {
  const { accounts, signUp, publicUrl } = options

  async function list(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = ListQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    return reply.send(await invitationPage(accounts.pool, query.data.page, accounts.nowMs()))
  }

  async function add(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const wanted = NewInvitation.safeParse(request.body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    if (signUp === 'off') return sendProblem(reply, 'SIGN_UP_OFF', { detail: signUpOff })
    const { mail: isMailed, ...invited } = wanted.data
    const made = await invite(accounts, { ...invited, isMailed }, actorIn(request))
    if (!made.ok) return refuse(reply, made)
    const { invitation, token } = made.value
    const answer: IssuedInvitation = { ...invitation, link: `${publicUrl()}/sign-up?token=${token}` }
    return reply.code(201).send(answer)
  }

  async function revoke(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const id = idIn(request)
    const isRevoked = id !== undefined && (await revokeInvitation(accounts, id, actorIn(request)))
    return isRevoked ? reply.code(204).send() : sendProblem(reply, 'INVITATION_UNKNOWN')
  }

  addPath(scope, '/invitations', { GET: list, POST: add })
  addPath(scope, '/invitations/:id', { DELETE: revoke })
}

const signUpOff =
  'nobody can sign up (SIGN_UP=off), so an invitation would be good for nothing: add the account instead'

function refuse(reply: FastifyReply, refusal: Exclude<Awaited<ReturnType<typeof invite>>, { ok: true }>): FastifyReply {
  switch (refusal.code) {
    case 'EMAIL_TAKEN':
      return sendProblem(reply, 'EMAIL_TAKEN', { errors: [{ path: 'email', message: 'belongs to an account' }] })
    case 'TOO_MANY_INVITATIONS':
      return sendProblem(reply, 'TOO_MANY_INVITATIONS', { detail: 'revoke some of those that are open' })
    case 'TOO_MANY_REQUESTS':
      reply.header('retry-after', String(refusal.retryAfterSeconds))
      return sendProblem(reply, 'TOO_MANY_REQUESTS', { detail: 'too many invitations in an hour, or for this address' })
  }
}
