/** Verifies the password of an account. */

import { writeAudit } from '../audit.ts'
import { queueMail } from '../mail/outbox-rows.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import type { RateLimit } from '../rate-limits.ts'
import { TooBusy } from '../too-busy.ts'
import { type Account, subjectOf } from './account.ts'
import { type AccountParts, askerOf, type Client, inNewTransaction } from './account-parts.ts'
import { emailKeyOf } from './email-address.ts'

export interface Credentials {
  email: string
  password: string
}

/** A missing account gets the same answer after the same work. */
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
  const checked = await checkPassword(parts, { email, password, hash: known }, client)
  if (!checked.ok) return checked
  const account = row && (await memory.get(row.id))
  if (account === undefined) return refused('CREDENTIALS_WRONG')
  if (!account.isActive) return refused('ACCOUNT_INACTIVE')
  if (known !== undefined && parts.passwords.isOutdated(known)) {
    await renewHash(parts, account, { old: known, password }, client)
  }
  if (checked.value.failures >= failuresNotifiedMin) await notifyOwner(parts, account, client)
  const details = { address: client.address }
  await writeAudit(pool, {
    actor: subjectOf(account.id),
    action: 'account.login',
    subject: subjectOf(account.id),
    details,
  })
  return accepted(account)
}

/** From this count on, wrong passwords before the right one may be guesses, and the owner is notified. */
const failuresNotifiedMin = 10
const dayMs = 24 * 3_600_000
const notices: RateLimit = { kind: 'login notice', countMax: 1, windowMs: dayMs }

/**
 * The owner is notified once a day for each network, so that a successful guesser is reported even if the owner has
 * signed in meanwhile.
 */
async function notifyOwner(parts: AccountParts, { id, email }: Account, { network }: Client): Promise<void> {
  if ((await parts.limits.take(notices, `${id} ${network}`)) !== undefined) return
  const mail = { kind: 'login-after-failures', email, accountId: id, nowMs: parts.nowMs() } as const
  try {
    await inNewTransaction(parts, transaction => queueMail(transaction, mail))
    parts.mailDue()
  } catch (error) {
    // The sign-in succeeds without the notification.
    if (!(error instanceof TooBusy)) throw error
    parts.log.warn({ account: id }, 'no mail reports a sign-in after many wrong passwords: too many mails are pending')
  }
}

export interface PasswordCheck {
  email: string
  password: string
  /** Undefined without a password to compare. */
  hash: string | undefined
}

export interface PasswordChecked {
  /** Number of wrong passwords against the account, from all networks. */
  failures: number
}

/** Counts the attempt before it is verified. Attempts beyond the limit are not verified. */
export async function checkPassword(
  { passwords, failures }: AccountParts,
  { email, password, hash }: PasswordCheck,
  client: Client,
): Promise<Outcome<PasswordChecked>> {
  const { network } = client
  return await passwords.attempt(askerOf(email, client), async verify => {
    const { waitSeconds: retryAfterSeconds, failures: before } = await failures.take(email, network)
    if (retryAfterSeconds !== undefined) return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
    const isRight = await verify(hash, password).catch(async (error: unknown) => {
      await failures.giveBack(email, network)
      throw error
    })
    if (!isRight) return refused('CREDENTIALS_WRONG')
    await failures.forgive(email, network)
    return accepted({ failures: before })
  })
}

/** Uses the present parameters, unless the password has changed meanwhile. */
async function renewHash(
  { pool, passwords }: AccountParts,
  { id, email }: Account,
  { old, password }: { old: string; password: string },
  client: Client,
): Promise<void> {
  const renewed = await passwords.hash(password, askerOf(email, client))
  await pool.query('UPDATE accounts SET password_hash = $3 WHERE id = $1 AND password_hash = $2', [id, old, renewed])
}

export async function passwordHashOf({ pool }: AccountParts, id: number): Promise<string | undefined> {
  const { rows } = await pool.query<{ password_hash: string | null }>(
    'SELECT password_hash FROM accounts WHERE id = $1',
    [id],
  )
  return rows[0]?.password_hash ?? undefined
}
