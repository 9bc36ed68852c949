/**
 * Slows down who guesses passwords. Attempts are counted for the account that is tried, whether or not there is one, and
 * for the network that they come from. They are counted before the password is looked at, so that many at once are no
 * way around the limits; the right password takes them back. An account's count slows only networks that have failed on
 * it themselves, so nobody can lock its owner out; a network's count, with a larger allowance, slows who tries many
 * accounts.
 */

import type pg from 'pg'
import { bug } from '../../store/limits/bug.ts'
import { digestOfKey } from '../rate-limits.ts'
import { emailKeyOf } from './email-address.ts'

export interface LoginFailures {
  /** Counts an attempt as failed, unless it comes too early. */
  take(email: string, network: string): Promise<Attempt>
  /** For one that was taken and whose password was not looked at. */
  giveBack(email: string, network: string): Promise<void>
  /** After the right password: this attempt and the failed ones of its network. */
  forgive(email: string, network: string): Promise<void>
}

interface Attempt {
  /** In how many seconds another one is taken; undefined for one that was. */
  waitSeconds: number | undefined
  /** How many have failed on the account before, from all networks. */
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
