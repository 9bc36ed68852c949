/** The account service: its parts opened together, and what others may ask of it. */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Devices } from '../devices/devices.ts'
import { createCodeGuesses } from '../grants/code-guesses.ts'
import { createMailer } from '../mail/mailer.ts'
import type { Mail } from '../mail/templates.ts'
import { type ChangeFeed, noFeed } from '../nodes/change-feed.ts'
import { createRateLimits } from '../rate-limits.ts'
import type { Stations } from '../stations/stations.ts'
import { createTenantMemory } from '../tenants/tenant-memory.ts'
import type { Account } from './account.ts'
import { createAccountMemory } from './account-memory.ts'
import type { AccountParts } from './account-parts.ts'
import { emailKeyOf } from './email-address.ts'
import { createLoginFailures } from './login-failures.ts'
import type { Passwords } from './passwords.ts'
import { createSweep } from './sweep.ts'

export interface Accounts extends AccountParts {
  find(id: number): Promise<Account | undefined>
  /** Of ordinary accounts; those of partners have no address of their own. */
  findByEmail(email: string): Promise<Account | undefined>
  /** The ids of ordinary accounts by the keys of their addresses (`emailKeyOf`). */
  idsByEmail(emails: readonly string[]): Promise<Map<string, number>>
  close(): Promise<void>
}

export interface AccountsOptions {
  pool: pg.Pool
  nowMs: () => number
  log: Log
  passwords: Passwords
  /** Those of an account that is deleted go to the operator. */
  devices: Pick<Devices, 'withHandOver'>
  stations: Pick<Stations, 'withHandOver'>
  /** Where the pages are that links in mails lead to. */
  publicUrl: () => string
  sendMail: (mail: Mail) => Promise<void>
  mailIdleMs?: number
  feed?: ChangeFeed
  /** Whether this process removes what is over. */
  leads?: () => boolean
}

const stepMs = 4_000

export function openAccounts(options: AccountsOptions): Accounts {
  const { pool, nowMs, log, passwords, devices, stations, publicUrl, sendMail, mailIdleMs } = options
  const { feed = noFeed, leads = () => true } = options
  const tenantMemory = createTenantMemory(pool, stepMs, feed)
  const memory = createAccountMemory({ pool, nowMs, tenantMemory, stepMs, feed })
  const mailer = createMailer({
    pool,
    nowMs,
    log,
    publicUrl,
    send: sendMail,
    ...(mailIdleMs === undefined ? {} : { idleMs: mailIdleMs }),
  })
  const limits = createRateLimits(pool, nowMs)
  const sweep = createSweep(pool, nowMs, leads, log)
  mailer.wake()
  return {
    pool,
    nowMs,
    log,
    passwords,
    devices,
    stations,
    memory,
    tenantMemory,
    feed,
    mailDue: mailer.wake,
    failures: createLoginFailures(pool, nowMs),
    limits,
    codeGuesses: createCodeGuesses(limits, log),
    find: id => memory.get(id),
    async findByEmail(email) {
      const id = (await idsByEmail(pool, [email])).get(emailKeyOf(email))
      return id === undefined ? undefined : await memory.get(id)
    },
    idsByEmail: emails => idsByEmail(pool, emails),
    async close() {
      await sweep.close()
      await mailer.close()
      await passwords.close()
    },
  }
}

async function idsByEmail(database: Transaction, emails: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await database.query<{ id: number; email_key: string }>(
    'SELECT id, email_key FROM accounts WHERE email_key = ANY($1::text[]) AND tenant_id IS NULL',
    [emails.map(emailKeyOf)],
  )
  return new Map(rows.map(row => [row.email_key, row.id]))
}
