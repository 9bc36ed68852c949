/** The account service: its parts opened together, and what others may ask of it. */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { hasEnded, type Transaction } from '../../store/postgres/transaction.ts'
import { createCodeGuesses } from '../grants/code-guesses.ts'
import { createMailer } from '../mail/mailer.ts'
import type { Mail } from '../mail/templates.ts'
import { createRateLimits } from '../rate-limits.ts'
import { createRecordCache } from '../record-cache.ts'
import { type Account, readAccount } from './account.ts'
import type { AccountParts } from './account-parts.ts'
import { emailKeyOf } from './email-address.ts'
import { createLoginFailures } from './login-failures.ts'
import type { Passwords } from './passwords.ts'
import { createSweep } from './sweep.ts'

export interface Accounts extends AccountParts {
  find(id: number): Promise<Account | undefined>
  /** Of ordinary accounts; those of partners have no address of their own. */
  findByEmail(email: string): Promise<Account | undefined>
  close(): Promise<void>
}

export interface AccountsOptions {
  pool: pg.Pool
  nowMs: () => number
  log: Log
  passwords: Passwords
  /** Where the pages are that links in mails lead to. */
  publicUrl: () => string
  sendMail: (mail: Mail) => Promise<void>
  mailIdleMs?: number
}

const accountsInMemoryMax = 1_000_000
const stepMs = 4_000

export function openAccounts(options: AccountsOptions): Accounts {
  const { pool, nowMs, log, passwords, publicUrl, sendMail, mailIdleMs } = options
  const memory = createRecordCache<number, Account>({
    recordsMax: accountsInMemoryMax,
    read: id => readAccount(pool, id, nowMs()),
    hasEnded: transaction => hasEnded(pool, transaction, stepMs),
  })
  const mailer = createMailer({
    ...{ pool, nowMs, log, publicUrl, send: sendMail },
    ...(mailIdleMs === undefined ? {} : { idleMs: mailIdleMs }),
  })
  const limits = createRateLimits(pool, nowMs)
  const sweep = createSweep(pool, nowMs, log)
  mailer.wake()
  return {
    ...{ pool, nowMs, log, passwords, memory, mailDue: mailer.wake },
    failures: createLoginFailures(pool, nowMs),
    limits,
    codeGuesses: createCodeGuesses(limits, log),
    find: id => memory.get(id),
    async findByEmail(email) {
      const id = await idByEmail(pool, email)
      return id === undefined ? undefined : await memory.get(id)
    },
    async close() {
      await sweep.close()
      await mailer.close()
    },
  }
}

async function idByEmail(database: Transaction, email: string): Promise<number | undefined> {
  const { rows } = await database.query<{ id: number }>(
    'SELECT id FROM accounts WHERE email_key = $1 AND tenant_id IS NULL',
    [emailKeyOf(email)],
  )
  return rows[0]?.id
}
