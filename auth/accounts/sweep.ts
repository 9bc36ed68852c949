/** Removes what is over: sessions, tokens, invitations, API keys, device requests and counters. Nothing depends on when that happens. */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { grantSweep } from '../grants/grant-sweep.ts'
import { failureLifetimeMs } from './login-failures.ts'

export interface Sweep {
  close(): Promise<void>
}

const intervalMs = 600_000
/** So long the owner of a key or a link that is revoked or expired sees it in the list. */
const overShownDays = 30

/** By the time that stands at $1. */
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

/** `leads`: whether this process does it. */
export function createSweep(pool: pg.Pool, nowMs: () => number, leads: () => boolean, log: Log): Sweep {
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
