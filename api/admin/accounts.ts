/** Serves accounts of people to administrators: lists, reads, adds, changes roles and viewers, enables and disables. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { AccountDetails, AccountPage, AddedAccount, roles } from '../../auth/accounts/account-details.ts'
import { accountPage, readAccountDetails } from '../../auth/accounts/account-list.ts'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { AdministrationErrorCode, Requester } from '../../auth/accounts/administered.ts'
import { addAccount, administerAccount } from '../../auth/accounts/administration.ts'
import { isCommonPassword } from '../../auth/accounts/common-passwords.ts'
import { emailForm, parseEmailAddress } from '../../auth/accounts/email-address.ts'
import { passwordLength } from '../../auth/accounts/passwords.ts'
import type { Principal } from '../../auth/policy.ts'
import { plainText } from '../../store/plain-text.ts'
import type { AdminOperation } from './operation.ts'
import { type Issue, sendProblem } from './problem.ts'
import { recordOperations } from './record-operations.ts'
import { recordId, SearchQuery } from './request-fields.ts'

export interface AdminAccountsOptions {
  accounts: Accounts
  /** Address of the page that links open. */
  publicUrl: () => string
}

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
    .meta({ description: 'True if the administrator vouches for the address.' }),
  /** Without a password, the answer has a link that sets one. */
  password: Password.nullable().default(null),
})
export const AccountChange = z
  .strictObject({
    role: z.enum(roles),
    viewer: z.boolean(),
    is_active: z.boolean(),
    email_verified: z
      .literal(true)
      .meta({ description: 'The administrator vouches for the address. This cannot be undone.' }),
  })
  .partial()
  .refine(change => Object.keys(change).length > 0, 'must name at least one field to change')
  .meta({ minProperties: 1 })

const Account = AccountDetails.meta({ id: 'AdminAccount' })

export function accountOperations({ accounts, publicUrl }: AdminAccountsOptions): AdminOperation[] {
  const { list, one, addition, change } = recordOperations({
    prefix: '/api/admin',
    list: '/accounts',
    key: 'id',
    id: recordId,
    unknown: 'ACCOUNT_UNKNOWN',
    refuse: sendRefusal,
  })
  return [
    list({
      name: 'admin_list_accounts',
      summary: 'The accounts',
      query: SearchQuery,
      answer: 'A page of them',
      json: AccountPage.meta({ id: 'AdminAccountPage' }),
      read: ({ query }) => accountPage(accounts.pool, query.search, query.page),
    }),
    addition({
      name: 'admin_add_account',
      summary: 'Add an account',
      description: 'Without a password, the answer has a link that sets one: once, within an hour.',
      body: NewAccount.meta({ id: 'AdminNewAccount' }),
      answer: 'The account',
      json: AddedAccount.meta({ id: 'AdminAddedAccount' }),
      refusals: ['EMAIL_TAKEN', 'OPERATOR_OTHER', 'OPERATOR_ONLY', 'TOO_BUSY'],
      async run({ body, principal, actor }) {
        const added = await addAccount(accounts, body, requesterOf(principal, actor))
        if (!added.ok) return added
        const { account, token } = added.value
        const password_link = token === undefined ? null : `${publicUrl()}/reset?token=${token}`
        return { ok: true, value: { ...account, password_link } satisfies AddedAccount }
      },
    }),
    one({
      name: 'admin_get_account',
      summary: 'One account',
      answer: 'The account',
      json: Account,
      read: ({ path: { id } }) => readAccountDetails(accounts.pool, id),
    }),
    change({
      name: 'admin_change_account',
      summary: 'Change an account',
      body: AccountChange.meta({ id: 'AdminAccountChange' }),
      answer: 'The changed account',
      json: Account,
      refusals: [
        'OPERATOR_STAYS',
        'OPERATOR_OTHER',
        'OPERATOR_ONLY',
        'OWN_ACCOUNT',
        'LAST_ADMINISTRATOR',
        'ROLE_IMPOSSIBLE',
      ],
      run: ({ path: { id }, body, principal, actor }) =>
        administerAccount(accounts, id, body, requesterOf(principal, actor)),
    }),
  ]
}

function requesterOf(principal: Principal, actor: string): Requester {
  return {
    actor,
    accountId: 'account' in principal ? principal.account.id : undefined,
    mayReplace: operatorId => mayReplace(principal, operatorId),
  }
}

/** An API key may not, including the operator's key. */
function mayReplace(principal: Principal, operatorId: number | undefined): boolean {
  if (principal.kind === 'admin-token') return true
  return principal.kind === 'session' && principal.account.id === operatorId
}

/** Lengths count code points, as in the account service. */
function hasGoodLength(password: string): boolean {
  if (password.length > 2 * passwordLength.max) return false
  const { length } = [...password]
  return length >= passwordLength.min && length <= passwordLength.max
}

const details: Partial<Record<AdministrationErrorCode, string>> = {
  OPERATOR_STAYS: 'the operator cannot be demoted or disabled: make another account the operator first',
  OPERATOR_OTHER: 'there is an operator already, or it has changed: reload and try again',
  OPERATOR_ONLY: 'only the signed-in operator or the local admin token may appoint the operator',
  OWN_ACCOUNT: 'you cannot change your own role or disable yourself: ask another administrator',
  LAST_ADMINISTRATOR:
    'the last active administrator cannot be demoted or disabled: make another account an administrator first',
  ROLE_IMPOSSIBLE: 'a user of a tenant cannot have another role, and a disabled account cannot become the operator',
}

function sendRefusal(reply: FastifyReply, { code }: { ok: false; code: AdministrationErrorCode }): FastifyReply {
  const errors: Issue[] | undefined =
    code === 'EMAIL_TAKEN' ? [{ path: 'email', message: 'belongs to another account' }] : undefined
  return sendProblem(reply, code, { detail: details[code], errors })
}
