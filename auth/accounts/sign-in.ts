/** Who has the password of an account. */

import { writeAudit } from '../audit.ts'
import { type AccountRefusal, accepted, type Outcome, refused } from '../outcome.ts'
import { type Account, subjectOf } from './account.ts'
import type { AccountParts, Client } from './account-parts.ts'
import { emailKeyOf } from './email-address.ts'

export interface Credentials {
  email: string
  password: string
}

/** The same answer and the same work for an account that is not there. */
export async function authenticate(
  parts: AccountParts,
  { email, password }: Credentials,
  client: Client,
): Promise<Outcome<Account>> {
  const { pool, memory } = parts
  const { rows } = await pool.query<{ id: number; password_hash: string | null }>(
    'SELECT id, password_hash FROM accounts WHERE email_key = $1 AND tenant_id IS NULL',
    [emailKeyOf(email)],
  )
  const [row] = rows
  const known = row?.password_hash ?? undefined
  const refusal = await checkPassword(parts, { email, password, hash: known }, client)
  if (refusal !== undefined) return refusal
  const account = row && (await memory.get(row.id))
  if (account === undefined) return refused('CREDENTIALS_WRONG')
  if (!account.isActive) return refused('ACCOUNT_INACTIVE')
  if (known !== undefined && parts.passwords.isOutdated(known)) await renewHash(parts, account.id, known, password)
  const details = { address: client.address }
  await writeAudit(pool, {
    actor: subjectOf(account.id),
    action: 'account.login',
    subject: subjectOf(account.id),
    details,
  })
  return accepted(account)
}

export interface PasswordCheck {
  email: string
  password: string
  /** Undefined where there is nothing to compare with. */
  hash: string | undefined
}

/** Undefined for the right password; a wrong one is counted, and too many of them are not even looked at. */
export async function checkPassword(
  { passwords, failures }: AccountParts,
  { email, password, hash }: PasswordCheck,
  { network }: Client,
): Promise<AccountRefusal | undefined> {
  const retryAfterSeconds = await failures.waitSeconds(email, network)
  if (retryAfterSeconds !== undefined) return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
  if (await passwords.verify(hash, password)) {
    await failures.forgive(email, network)
    return undefined
  }
  await failures.add(email, network)
  return refused('CREDENTIALS_WRONG')
}

/** With the parameters of today; only if nobody has changed the password meanwhile. */
async function renewHash({ pool, passwords }: AccountParts, id: number, old: string, password: string): Promise<void> {
  const renewed = await passwords.hash(password)
  await pool.query('UPDATE accounts SET password_hash = $3 WHERE id = $1 AND password_hash = $2', [id, old, renewed])
}

/** The hash of an account that is signed in; undefined for one without a password. */
export async function passwordHashOf({ pool }: AccountParts, id: number): Promise<string | undefined> {
  const { rows } = await pool.query<{ password_hash: string | null }>(
    'SELECT password_hash FROM accounts WHERE id = $1',
    [id],
  )
  return rows[0]?.password_hash ?? undefined
}
