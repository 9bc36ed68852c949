/** Opens the parts of the account service together. */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { hasEnded, type Transaction } from '../../store/postgres/transaction.ts'
import type { Devices } from '../devices/devices.ts'
import { createCodeGuesses } from '../grants/code-guesses.ts'
import { createMailer } from '../mail/mailer.ts'
import type { Mail } from '../mail/templates.ts'
import { type ChangeFeed, noFeed } from '../nodes/change-feed.ts'
import { createRateLimits } from '../rate-limits.ts'
import { createRecordCache, type RecordCache } from '../record-cache.ts'
import type { Stations } from '../stations/stations.ts'
import { createTenantMemory, type TenantMemory } from '../tenants/tenant-rows.ts'
import { type Account, readAccount } from './account.ts'
import type { AccountParts } from './account-parts.ts'
import { emailKeyOf } from './email-address.ts'
import { createLoginFailures, failureLifetimeMs } from './login-failures.ts'
import type { Passwords } from './passwords.ts'

export interface Accounts extends AccountParts {
  find(id: number): Promise<Account | undefined>
  /** Finds ordinary accounts. Users of partners have no address of their own. */
  findByEmail(email: string): Promise<Account | undefined>
  /** Ids of ordinary accounts by the keys of their addresses (`emailKeyOf`). */
  idsByEmail(emails: readonly string[]): Promise<Map<string, number>>
  close(): Promise<void>
}

export interface AccountsOptions {
  pool: pg.Pool
  nowMs: () => number
  log: Log
  passwords: Passwords
  /** The operator receives the devices of a deleted account. */
  devices: Pick<Devices, 'withHandOver'>
  stations: Pick<Stations, 'withHandOver'>
  /** Address of the pages that mails link to. */
  publicUrl: () => string
  sendMail: (mail: Mail) => Promise<void>
  mailIdleMs?: number
  feed?: ChangeFeed
  /** True if this process removes expired rows. */
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

interface AccountMemoryOptions {
  pool: pg.Pool
  nowMs: () => number
  tenantMemory: TenantMemory
  stepMs: number
  feed: ChangeFeed
}

const accountsInMemoryMax = 1_000_000

/** Holds accounts in memory as authorization needs them: users of a disabled tenant are inactive. */
function createAccountMemory(options: AccountMemoryOptions): RecordCache<number, Account> {
  const { pool, nowMs, tenantMemory, stepMs, feed } = options
  const records = createRecordCache<number, Account>({
    recordsMax: accountsInMemoryMax,
    read: id => readAccount(pool, id, nowMs()),
    hasEnded: transaction => hasEnded(pool, transaction, stepMs),
    isCurrent: feed.isCurrent,
  })
  feed.onChange('account', ids => ids.forEach(records.forget))
  return {
    change: records.change,
    forget: records.forget,
    peek(id) {
      const account = records.peek(id)
      if (account === undefined || account.tenantId === null) return account
      return tenantMemory.peek(account.tenantId)?.isActive === true ? account : undefined
    },
    async get(id) {
      for (;;) {
        const account = await records.get(id)
        if (account === undefined || account.tenantId === null) return account
        const tenant = await tenantMemory.get(account.tenantId)
        // The account may have changed while its tenant was read.
        if ((await records.get(id)) !== account) continue
        return tenant?.isActive === true ? account : { ...account, isActive: false }
      }
    },
  }
}

/** Sweeps ended requests. The time is $1. */
const grantSweep = [
  // The device has not fetched the key in time.
  `UPDATE api_keys SET revoked_at = $1 FROM device_grants
   WHERE api_keys.id = key_id AND revoked_at IS NULL AND status = 'approved' AND device_grants.expires_at <= $1`,
  // Polls report the expiry for an hour.
  "DELETE FROM device_grants WHERE expires_at <= $1::timestamptz - interval '1 hour'",
]

interface Sweep {
  close(): Promise<void>
}

const intervalMs = 600_000
/** Lists show revoked and expired keys and links for this time. */
const overShownDays = 30

/** The time is $1. */
export const sweepStatements = [
  'DELETE FROM sessions WHERE expires_at <= $1',
  'DELETE FROM account_tokens WHERE expires_at <= $1',
  'DELETE FROM invitations WHERE expires_at <= $1',
  'DELETE FROM tenant_tokens WHERE expires_at <= $1',
  `DELETE FROM api_keys WHERE least(revoked_at, expires_at) <= $1::timestamptz - interval '${overShownDays} days'`,
  `DELETE FROM view_links WHERE least(revoked_at, expires_at) <= $1::timestamptz - interval '${overShownDays} days'`,
  'DELETE FROM used_tokens WHERE expires_at <= $1',
  'DELETE FROM rate_limits WHERE ends_at <= $1',
  `DELETE FROM login_failures WHERE last_at <= $1::timestamptz - interval '${failureLifetimeMs} milliseconds'`,
  ...grantSweep,
]

/** `leads` is true in the process that sweeps. */
function createSweep(pool: pg.Pool, nowMs: () => number, leads: () => boolean, log: Log): Sweep {
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<void> {
    try {
      for (const text of sweepStatements) if (leads()) await pool.query(text, [new Date(nowMs())])
    } catch (error) {
      log.warn({ err: error }, 'expired sessions, tokens and keys could not be removed; the next run tries again')
    }
  }

  const timer = setInterval(() => {
    running = run()
  }, intervalMs)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      await running
    },
  }
}
