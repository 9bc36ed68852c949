/**
 * Slows down password guessing. Attempts are counted by account, existing or not, and by network. They are counted
 * before the password is verified, so that concurrent attempts do not bypass the limits. The right password cancels
 * them. An account's count slows only networks that have failed on it, so its owner cannot be locked out. A network's
 * count has a larger allowance and slows attempts on many accounts.
 */

import type pg from 'pg'
import { bug } from '../../store/limits/bug.ts'
import { digestOfKey } from '../rate-limits.ts'
import { emailKeyOf } from './email-address.ts'

export interface LoginFailures {
  /** Counts an attempt as failed, unless it is too early. */
  take(email: string, network: string): Promise<Attempt>
  /** Cancels an attempt whose password was not verified. */
  giveBack(email: string, network: string): Promise<void>
  /** Cancels this attempt and its network's failed ones after the right password. */
  forgive(email: string, network: string): Promise<void>
}

interface Attempt {
  /** Seconds until the next attempt is accepted; undefined for an accepted one. */
  waitSeconds: number | undefined
  /** Failed attempts on the account before, from all networks. */
  failures: number
}

const freePerAccount = 5
const freePerNetwork = 100
const waitSecondsMax = 60
export const failureLifetimeMs = 24 * 3_600_000

/** Set for the one statement: see `018-login-attempts.sql`. */
const asynchronously = "(SELECT set_config('synchronous_commit', 'off', true)) AS asynchronously"

export function createLoginFailures(pool: pg.Pool, nowMs: () => number): LoginFailures {
  const keyOf = (email: string) => digestOfKey(emailKeyOf(email))

  return {
    async take(email, network) {
      const account = keyOf(email)
      const { rows } = await pool.query<{ wait_seconds: number | null; failures_before: number }>(
        `SELECT wait_seconds, failures_before FROM count_login_attempt(
           $1, $2, $3, $4, to_timestamp($5::float8 / 1000), $6::float8 * interval '1 ms', $7, $8, $9)`,
        [
          account,
          network,
          account.readInt32BE(),
          digestOfKey(network).readInt32BE(),
          nowMs(),
          failureLifetimeMs,
          freePerAccount,
          freePerNetwork,
          waitSecondsMax,
        ],
      )
      const [counted] = rows
      if (counted === undefined) throw bug('a function returned no row')
      return { waitSeconds: counted.wait_seconds ?? undefined, failures: counted.failures_before }
    },
    async giveBack(email, network) {
      await pool.query(
        `UPDATE login_failures SET failures = failures - 1 FROM ${asynchronously}
         WHERE account = $1 AND network = $2 AND failures > 0`,
        [keyOf(email), network],
      )
    },
    async forgive(email, network) {
      await pool.query(`DELETE FROM login_failures USING ${asynchronously} WHERE account = $1 AND network = $2`, [
        keyOf(email),
        network,
      ])
    },
  }
}
