/** Accounts of people by HTTP, for administrators: a page of them, one, a new one, roles, viewers, and on and off. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AddedAccount } from '../../auth/accounts/account-details.ts'
import { accountPage, readAccountDetails } from '../../auth/accounts/account-list.ts'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { AdministrationErrorCode, Requester } from '../../auth/accounts/administered.ts'
import { addAccount, administerAccount } from '../../auth/accounts/administration.ts'
import { isCommonPassword } from '../../auth/accounts/common-passwords.ts'
import { emailForm, parseEmailAddress } from '../../auth/accounts/email-address.ts'
import { passwordLength } from '../../auth/accounts/passwords.ts'
import { roles } from '../../auth/accounts/role.ts'
import { actorOf } from '../../auth/actor.ts'
import { plainText } from '../../auth/plain-text.ts'
import type { Principal } from '../../auth/policy.ts'
import { requesterOf } from './guard.ts'
import { addPath } from './paths.ts'
import { type Issue, sendInvalid, sendProblem } from './problem.ts'
import { pageNumber, searchText } from './query-fields.ts'
import { idIn } from './record-id.ts'

export interface AdminAccountsOptions {
  accounts: Accounts
  /** Where the page is that a link leads to. */
  publicUrl: () => string
}

const ListQuery = z.strictObject({ search: searchText, page: pageNumber })

export const Email = z
  .string()
  .transform((text, context) => {
    const parsed = parseEmailAddress(text)
    if (parsed.ok) return parsed.email
    context.issues.push({ code: 'custom', message: parsed.reason, input: text })
    return z.NEVER
  })
  .meta(emailForm)
const Name = plainText({ min: 1, max: 100 })
const Password = z
  .string()
  .refine(password => password.isWellFormed(), 'must be well-formed Unicode')
  .refine(hasGoodLength, `must have ${passwordLength.min} to ${passwordLength.max} characters`)
  .refine(password => !isCommonPassword(password), 'is one of the most common passwords')
  .meta({ minLength: passwordLength.min, maxLength: passwordLength.max })

export const NewAccount = z.strictObject({
  email: Email,
  name: Name.nullable().default(null),
  role: z.enum(roles).default('user'),
  viewer: z.boolean().default(false),
  email_verified: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the administrator answers for the address.' }),
  /** Without one, the answer has a link that sets it. */
  password: Password.nullable().default(null),
})
export const AccountChange = z
  .strictObject({
    ...{ role: z.enum(roles), viewer: z.boolean(), is_active: z.boolean() },
    email_verified: z.literal(true).meta({ description: 'The administrator answers for the address; it stays so.' }),
  })
  .partial()
  .refine(change => Object.keys(change).length > 0, 'must name at least one field to change')
  .meta({ minProperties: 1 })

export function registerAccounts(scope: FastifyInstance, { accounts, publicUrl }: AdminAccountsOptions): void {
  async function list(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = ListQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    return reply.send(await accountPage(accounts.pool, query.data.search, query.data.page))
  }

  async function get(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const id = idIn(request)
    const details = id === undefined ? undefined : await readAccountDetails(accounts.pool, id)
    return details === undefined ? sendProblem(reply, 'ACCOUNT_UNKNOWN') : reply.send(details)
  }

  async function add(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const wanted = NewAccount.safeParse(request.body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const added = await addAccount(accounts, wanted.data, administratorOf(request))
    if (!added.ok) return sendRefusal(reply, added.code)
    const { account, token } = added.value
    const password_link = token === undefined ? null : `${publicUrl()}/reset?token=${token}`
    const answer: AddedAccount = { ...account, password_link }
    return reply.code(201).header('location', `/api/admin/accounts/${account.id}`).send(answer)
  }

  async function change(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const wanted = AccountChange.safeParse(request.body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const id = idIn(request)
    if (id === undefined) return sendProblem(reply, 'ACCOUNT_UNKNOWN')
    const changed = await administerAccount(accounts, id, wanted.data, administratorOf(request))
    return changed.ok ? reply.send(changed.value) : sendRefusal(reply, changed.code)
  }

  addPath(scope, '/accounts', { GET: list, POST: add })
  addPath(scope, '/accounts/:id', { GET: get, PATCH: change })
}

function administratorOf(request: FastifyRequest): Requester {
  const principal = requesterOf(request)
  return {
    actor: actorOf(principal),
    accountId: 'account' in principal ? principal.account.id : undefined,
    mayReplace: operatorId => mayReplace(principal, operatorId),
  }
}

/** An API key may not, not even that of the operator. */
function mayReplace(principal: Principal, operatorId: number | undefined): boolean {
  if (principal.kind === 'admin-token') return true
  return principal.kind === 'session' && principal.account.id === operatorId
}

/** In code points, as everywhere. */
function hasGoodLength(password: string): boolean {
  if (password.length > 2 * passwordLength.max) return false
  const { length } = [...password]
  return length >= passwordLength.min && length <= passwordLength.max
}

const details: Partial<Record<AdministrationErrorCode, string>> = {
  OPERATOR_STAYS: 'the operator is neither demoted nor switched off: make another account the operator first',
  OPERATOR_OTHER: 'there is an operator, or another one than a moment ago: look, and try again',
  OPERATOR_ONLY: 'only the operator, signed in, or the local admin token says who the operator is',
  OWN_ACCOUNT: 'nobody changes his own role or switches himself off: ask another administrator',
  LAST_ADMINISTRATOR: 'the last active administrator stays one: make another account an administrator first',
  ROLE_IMPOSSIBLE: 'a user of a tenant has no other role, and an account that is off does not become the operator',
}

function sendRefusal(reply: FastifyReply, code: AdministrationErrorCode): FastifyReply {
  const errors: Issue[] | undefined =
    code === 'EMAIL_TAKEN' ? [{ path: 'email', message: 'belongs to another account' }] : undefined
  return sendProblem(reply, code, { detail: details[code], errors })
}
