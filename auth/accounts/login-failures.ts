/**
 * Slows down who guesses passwords. Attempts are counted for the account that is tried, whether or not there is one, and
 * for the network that they come from. They are counted before the password is looked at, so that many at once are no
 * way around the limits; the right password takes them back. An account's count slows only networks that have failed on
 * it themselves, so nobody can lock its owner out; a network's count, with a larger allowance, slows who tries many
 * accounts.
 */

import type pg from 'pg'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
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

interface Counts {
  account: number
  own: number
  own_last_ms: number | null
  network: number
  network_last_ms: number | null
}

// Two kinds of advisory locks. Any fixed numbers serve.
const accountLocks = 1
const networkLocks = 2
const stepMs = 4_000
/**
 * Set for the one statement: a crash of PostgreSQL may lose the last counts, and a sync for each attempt would be work for
 * whoever guesses.
 */
const asynchronously = "(SELECT set_config('synchronous_commit', 'off', true)) AS asynchronously"

export function createLoginFailures(pool: pg.Pool, nowMs: () => number): LoginFailures {
  const keyOf = (email: string) => digestOfKey(emailKeyOf(email))

  return {
    async take(email, network) {
      const [account, now] = [keyOf(email), nowMs()]
      return await inTransaction(pool, { stepMs, isAsynchronous: true }, async transaction => {
        await lock(transaction, account, digestOfKey(network))
        const counts = await readCounts(transaction, account, network, now)
        const waitSeconds = waitOf(counts, now)
        if (waitSeconds === undefined) await addFailure(transaction, account, network, now)
        return { waitSeconds, failures: counts.account }
      })
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

/**
 * Until the end of the transaction. The order is the same for all attempts, so that no two wait for each other; two that
 * share a number wait without need, and rarely. A statement of its own, so that the next one sees what was counted before.
 */
async function lock(transaction: Transaction, account: Buffer, network: Buffer): Promise<void> {
  await transaction.query(
    `SELECT pg_advisory_xact_lock(${accountLocks}, $1::integer), pg_advisory_xact_lock(${networkLocks}, $2::integer)`,
    [account.readInt32BE(), network.readInt32BE()],
  )
}

async function readCounts(database: Transaction, account: Buffer, network: string, nowMs: number): Promise<Counts> {
  const { rows } = await database.query<Counts>(
    `SELECT coalesce(sum(failures) FILTER (WHERE account = $1), 0)::float8 AS account,
       coalesce(sum(failures) FILTER (WHERE account = $1 AND network = $2), 0)::float8 AS own,
       (date_part('epoch', max(last_at) FILTER (WHERE account = $1 AND network = $2)) * 1000)::float8 AS own_last_ms,
       coalesce(sum(failures) FILTER (WHERE network = $2), 0)::float8 AS network,
       (date_part('epoch', max(last_at) FILTER (WHERE network = $2)) * 1000)::float8 AS network_last_ms
     FROM login_failures
     WHERE (account = $1 OR network = $2) AND last_at > to_timestamp($3::float8 / 1000)`,
    [account, network, nowMs - failureLifetimeMs],
  )
  const [counts] = rows
  if (counts === undefined) throw new Error('a sum gives a row')
  return counts
}

async function addFailure(database: Transaction, account: Buffer, network: string, nowMs: number): Promise<void> {
  await database.query(
    `INSERT INTO login_failures AS known (account, network, failures, last_at)
     VALUES ($1, $2, 1, to_timestamp($3::float8 / 1000))
     ON CONFLICT (account, network) DO UPDATE SET last_at = excluded.last_at, failures = CASE
       WHEN known.last_at > to_timestamp($4::float8 / 1000) THEN least(known.failures, 1000000) + 1 ELSE 1 END`,
    [account, network, nowMs, nowMs - failureLifetimeMs],
  )
}

function waitOf(counts: Counts, nowMs: number): number | undefined {
  const forAccount = counts.own === 0 ? 0 : delaySeconds(counts.account - freePerAccount)
  const forNetwork = delaySeconds(counts.network - freePerNetwork)
  const leftMs = Math.max(
    leftOf(forAccount, (counts.own_last_ms ?? 0) - nowMs),
    leftOf(forNetwork, (counts.network_last_ms ?? 0) - nowMs),
  )
  const seconds = Math.ceil(leftMs / 1000)
  // A clock that was set back must not announce a longer wait than there is.
  return seconds > 0 ? Math.min(seconds, waitSecondsMax) : undefined
}

/**
 * No delay leaves nothing to wait for, also where the last attempt is later than this one by the clock: of two at once, the
 * one that came first may be counted last.
 */
function leftOf(delay: number, sinceLastMs: number): number {
  return delay === 0 ? 0 : delay * 1000 + sinceLastMs
}

/** Doubles with each failure beyond those that are free: 1 s, 2 s, 4 s, … */
function delaySeconds(beyond: number): number {
  return beyond < 0 ? 0 : Math.min(2 ** beyond, waitSecondsMax)
}
