/**
 * Slows down who guesses passwords. Wrong ones are counted for the account that was tried, whether or not there is one,
 * and for the network that they came from. An account's count slows only networks that have failed on it themselves, so
 * nobody can lock its owner out; a network's count, with a larger allowance, slows who tries many accounts.
 */

import type pg from 'pg'
import { digestOfKey } from '../rate-limits.ts'
import { emailKeyOf } from './email-address.ts'

export interface LoginFailures {
  standing(email: string, network: string): Promise<Standing>
  add(email: string, network: string): Promise<void>
  /** After the right password. */
  forgive(email: string, network: string): Promise<void>
}

interface Standing {
  /** In how many seconds another attempt is taken; undefined for at once. */
  waitSeconds: number | undefined
  /** Of the account, from all networks. */
  failures: number
  /** Some of them are from this network. */
  hasOwn: boolean
}

const freePerAccount = 5
const freePerNetwork = 100
const waitSecondsMax = 60
export const failureLifetimeMs = 24 * 3_600_000

interface Counts {
  account: number
  own: number
  own_last_ms: number | null
  network: number
  network_last_ms: number | null
}

export function createLoginFailures(pool: Pick<pg.Pool, 'query'>, nowMs: () => number): LoginFailures {
  const keyOf = (email: string) => digestOfKey(emailKeyOf(email))

  return {
    async standing(email, network) {
      const now = nowMs()
      const { rows } = await pool.query<Counts>(
        `SELECT coalesce(sum(failures) FILTER (WHERE account = $1), 0)::float8 AS account,
           coalesce(sum(failures) FILTER (WHERE account = $1 AND network = $2), 0)::float8 AS own,
           (date_part('epoch', max(last_at) FILTER (WHERE account = $1 AND network = $2)) * 1000)::float8 AS own_last_ms,
           coalesce(sum(failures) FILTER (WHERE network = $2), 0)::float8 AS network,
           (date_part('epoch', max(last_at) FILTER (WHERE network = $2)) * 1000)::float8 AS network_last_ms
         FROM login_failures
         WHERE (account = $1 OR network = $2) AND last_at > to_timestamp($3::float8 / 1000)`,
        [keyOf(email), network, now - failureLifetimeMs],
      )
      const [counts] = rows
      if (counts === undefined) throw new Error('a sum gives a row')
      return { waitSeconds: waitOf(counts, now), failures: counts.account, hasOwn: counts.own > 0 }
    },
    async add(email, network) {
      await pool.query(
        `INSERT INTO login_failures AS known (account, network, failures, last_at)
         VALUES ($1, $2, 1, to_timestamp($3::float8 / 1000))
         ON CONFLICT (account, network) DO UPDATE SET last_at = excluded.last_at, failures = CASE
           WHEN known.last_at > to_timestamp($4::float8 / 1000) THEN least(known.failures, 1000000) + 1 ELSE 1 END`,
        [keyOf(email), network, nowMs(), nowMs() - failureLifetimeMs],
      )
    },
    async forgive(email, network) {
      await pool.query('DELETE FROM login_failures WHERE account = $1 AND network = $2', [keyOf(email), network])
    },
  }
}

function waitOf(counts: Counts, nowMs: number): number | undefined {
  const forAccount = counts.own === 0 ? 0 : delaySeconds(counts.account - freePerAccount)
  const forNetwork = delaySeconds(counts.network - freePerNetwork)
  const endsMs = Math.max(
    (counts.own_last_ms ?? 0) + forAccount * 1000,
    (counts.network_last_ms ?? 0) + forNetwork * 1000,
  )
  const seconds = Math.ceil((endsMs - nowMs) / 1000)
  // A clock that was set back must not announce a longer wait than there is.
  return seconds > 0 ? Math.min(seconds, waitSecondsMax) : undefined
}

/** Doubles with each failure beyond those that are free: 1 s, 2 s, 4 s, … */
function delaySeconds(beyond: number): number {
  return beyond < 0 ? 0 : Math.min(2 ** beyond, waitSecondsMax)
}
