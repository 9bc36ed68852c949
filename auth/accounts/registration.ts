/** Registers accounts with a password, by sign-up or as the operator, and inserts the rows of all new accounts. */

import { isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { writeAudit } from '../audit.ts'
import { queueMail } from '../mail/outbox-rows.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import { type Account, subjectOf } from './account.ts'
import type { Role } from './account-details.ts'
import { type AccountParts, askerOf, type Client, inNewTransaction } from './account-parts.ts'

interface InsertedAccount {
  email: string
  /** Null for an account that signs in elsewhere, or has no password yet. */
  passwordHash: string | null
  name: string | null
  image: string | null
  isVerified: boolean
  role: Role
  isViewer: boolean
  /** Tenant and subject of a user; null for an ordinary account. */
  tenant: { id: number; subject: string } | null
  nowMs: number
}

/** Rejects if the address or the subject is taken. */
export async function insertAccount(transaction: Transaction, account: InsertedAccount): Promise<number> {
  const { email, passwordHash, name, image, isVerified, role, isViewer, tenant, nowMs } = account
  const { rows } = await transaction.query<{ id: number }>(
    `INSERT INTO accounts (email, password_hash, name, image, role, is_viewer, tenant_id, tenant_subject,
       email_verified_at, created_at, updated_at)
     SELECT $1, $2, $3, $4, $5, $6, $7::integer, $8, CASE WHEN $9::boolean THEN at END, at, at
     FROM (SELECT to_timestamp($10::float8 / 1000) AS at) AS clock
     RETURNING id`,
    [email, passwordHash, name, image, role, isViewer, tenant?.id, tenant?.subject, isVerified, nowMs],
  )
  const [row] = rows
  if (row === undefined) throw new Error('an insertion gives a row')
  return row.id
}

export interface NewAccount {
  email: string
  password: string
  name: string | null
}

/** Initial state of a new account. */
export interface Admitted {
  role: Role
  isViewer: boolean
  /** True if the address is verified. */
  isVerified: boolean
  invitation?: { id: number }
}

/** Decides in the transaction that creates the account. */
export type Admission = (transaction: Transaction) => Promise<Outcome<Admitted>>

export async function register(
  parts: AccountParts,
  { email, password, name }: NewAccount,
  client: Client,
  admit: Admission,
): Promise<Outcome<Account>> {
  // Hashes before the lookup of the address, so that the work is equal for known addresses.
  const passwordHash = await parts.passwords.hash(password, askerOf(email, client))
  const nowMs = parts.nowMs()
  const made = await orTaken(
    inNewTransaction(parts, async (transaction): Promise<Outcome<number>> => {
      const admitted = await admit(transaction)
      if (!admitted.ok) return admitted
      const { role, isViewer, isVerified } = admitted.value
      const id = await insertAccount(transaction, {
        email,
        passwordHash,
        name,
        image: null,
        isVerified,
        role,
        isViewer,
        tenant: null,
        nowMs,
      })
      if (!isVerified) await queueMail(transaction, { kind: 'verification', email, accountId: id, nowMs })
      await writeRegistration(transaction, id, admitted.value)
      return accepted(id)
    }),
  )
  if (made === undefined) return refused('EMAIL_TAKEN')
  if (!made.ok) return made
  parts.mailDue()
  return await readNew(parts, made.value)
}

export async function writeRegistration(transaction: Transaction, id: number, admitted: Admitted): Promise<void> {
  const { role, isViewer, invitation } = admitted
  const details = { role, ...(invitation && { viewer: isViewer, invitation: invitation.id }) }
  const subject = subjectOf(id)
  await writeAudit(transaction, { actor: subject, action: 'account.register', subject, details })
}

/** Undefined if the address belongs to an account. */
export async function orTaken<Value>(work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work
  } catch (error) {
    if (isUniqueViolation(error, 'accounts_email')) return undefined
    throw error
  }
}

export async function readNew({ memory }: AccountParts, id: number): Promise<Outcome<Account>> {
  const account = await memory.get(id)
  return account === undefined ? refused('ACCOUNT_UNKNOWN') : accepted(account)
}
