/** Accounts of people by HTTP, for administrators: a page of them, one, a new one, roles, and on and off. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { roles } from '../../auth/accounts/account.ts'
import { type AddedAccount, accountPage, readAccountDetails } from '../../auth/accounts/account-list.ts'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { AdministrationErrorCode, Requester } from '../../auth/accounts/administered.ts'
import { addAccount, administerAccount } from '../../auth/accounts/administration.ts'
import { isCommonPassword } from '../../auth/accounts/common-passwords.ts'
import { parseEmailAddress } from '../../auth/accounts/email-address.ts'
import { passwordLength } from '../../auth/accounts/passwords.ts'
import { actorOf } from '../../auth/actor.ts'
import type { Principal } from '../../auth/policy.ts'
import { requesterOf } from './guard.ts'
import { addPath } from './paths.ts'
import { type Issue, sendInvalid, sendProblem } from './problem.ts'
import { pageNumber, searchText } from './query-fields.ts'

export interface AdminAccountsOptions {
  accounts: Accounts
  /** Where the page is that a link leads to. */
  publicUrl: () => string
}

const ListQuery = z.strictObject({ search: searchText, page: pageNumber })

const controlCharacters = /\p{Cc}/u
const Email = z.string().transform((text, context) => {
  const parsed = parseEmailAddress(text)
  if (parsed.ok) return parsed.email
  context.issues.push({ code: 'custom', message: parsed.reason, input: text })
  return z.NEVER
})
const Name = z
  .string()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  .refine(name => name.isWellFormed() && !controlCharacters.test(name), 'must not contain control characters')
const Password = z
  .string()
  .refine(password => password.isWellFormed(), 'must be well-formed Unicode')
  .refine(hasGoodLength, `must have ${passwordLength.min} to ${passwordLength.max} characters`)
  .refine(password => !isCommonPassword(password), 'is one of the most common passwords')

export const NewAccount = z.strictObject({
  email: Email,
  name: Name.nullable().default(null),
  role: z.enum(roles).default('user'),
  /** Without one, the answer has a link that sets it. */
  password: Password.nullable().default(null),
})
export const AccountChange = z
  .strictObject({ role: z.enum(roles), is_active: z.boolean() })
  .partial()
  .refine(change => Object.keys(change).length > 0, 'must name at least one field to change')

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

/** Undefined for what can be the id of no account. */
function idIn(request: FastifyRequest): number | undefined {
  const { id } = request.params as { id: string }
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : Number.NaN
  return number <= 2_147_483_647 ? number : undefined
}

function administratorOf(request: FastifyRequest): Requester {
  const principal = requesterOf(request)
  return { actor: actorOf(principal), mayReplace: operatorId => mayReplace(principal, operatorId) }
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
  ROLE_IMPOSSIBLE: 'a user of a tenant has no other role, and an account that is off does not become the operator',
}

function sendRefusal(reply: FastifyReply, code: AdministrationErrorCode): FastifyReply {
  const errors: Issue[] | undefined =
    code === 'EMAIL_TAKEN' ? [{ path: 'email', message: 'belongs to another account' }] : undefined
  return sendProblem(reply, code, { detail: details[code], errors })
}
