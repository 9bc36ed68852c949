/**
 * Answers a device's poll and hands its key out once. The key's text is generated for that answer, and its digest
 * replaces the approval's, so that no stored text opens anything. A lost answer is not repeated. Its unusable key is
 * in the owner's list.
 */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { AccountParts } from '../accounts/account-parts.ts'
import { createKeyTextLike, digestOf } from '../keys/key-text.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import { isDeviceCode } from './codes.ts'
import { findByDeviceCode, type Grant, grantColumns, grantSubject, oneGrant, stateOf } from './grant.ts'
import { pollIntervalSecondsMax, slowDownSeconds } from './grant-limits.ts'

export interface Polled {
  status: 'pending' | 'approved' | 'denied' | 'expired'
  /** Key of an approved request, in one answer only. */
  apiKey: string | null
  intervalSeconds: number
}

export async function pollGrant(parts: AccountParts, deviceCode: string): Promise<Outcome<Polled>> {
  const nowMs = parts.nowMs()
  const grant = isDeviceCode(deviceCode) ? await findByDeviceCode(parts.pool, deviceCode) : undefined
  if (grant === undefined) return refused('GRANT_UNKNOWN')
  const over = answerOfOver(grant, nowMs)
  if (over !== undefined) return accepted(over)
  const polled = await notePoll(parts, grant.id, nowMs)
  if (polled === undefined) return await slowDown(parts, grant.id, nowMs)
  // The request may have been decided meanwhile.
  return accepted(
    answerOfOver(polled, nowMs) ??
      (polled.status === 'pending' ? answer(polled, 'pending') : await collect(parts, polled, nowMs)),
  )
}

/** Undefined while it is pending or not fetched. */
function answerOfOver(grant: Grant, nowMs: number): Polled | undefined {
  const state = stateOf(grant, nowMs)
  if (state === 'expired') return answer(grant, 'expired')
  return state === 'denied' || state === 'consumed' ? answer(grant, 'denied') : undefined
}

function answer({ intervalSeconds }: Grant, status: Polled['status'], apiKey: string | null = null): Polled {
  return { status, apiKey, intervalSeconds }
}

/**
 * Undefined for an early poll. The first one never is. Neither this nor slowDown changes the status. After a clock was
 * set back, the last poll may be in the future and must not delay the next one for long.
 */
function notePoll({ pool }: AccountParts, id: string, nowMs: number): Promise<Grant | undefined> {
  return oneGrant(
    pool,
    `UPDATE device_grants SET polled_at = to_timestamp($2::float8 / 1000)
     WHERE id = $1 AND (polled_at IS NULL
       OR polled_at + interval_seconds * interval '1 second' <= to_timestamp($2::float8 / 1000)
       OR polled_at - interval_seconds * interval '1 second' > to_timestamp($2::float8 / 1000))
     RETURNING ${grantColumns}`,
    [id, nowMs],
  )
}

async function slowDown({ pool }: AccountParts, id: string, nowMs: number): Promise<Outcome<Polled>> {
  const { rows } = await pool.query<{ interval_seconds: number; polled_ms: number }>(
    `UPDATE device_grants SET interval_seconds = least(interval_seconds + $2, $3) WHERE id = $1
     RETURNING interval_seconds, (date_part('epoch', polled_at) * 1000)::float8 AS polled_ms`,
    [id, slowDownSeconds, pollIntervalSecondsMax],
  )
  const [row] = rows
  // It was removed meanwhile with its account.
  if (row === undefined) return refused('GRANT_UNKNOWN')
  const seconds = Math.ceil((row.polled_ms - nowMs) / 1000) + row.interval_seconds
  const retryAfterSeconds = Math.min(Math.max(seconds, 1), row.interval_seconds)
  return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
}

/**
 * One conditional statement, so that only one of several polls gets the key, unless it is revoked. A concurrent
 * revocation either prevents the fetch or ends the fetched key.
 */
async function collect({ pool }: AccountParts, grant: Grant, nowMs: number): Promise<Polled> {
  const prefix = await readPrefix(pool, grant.id)
  if (prefix === undefined) return answer(grant, 'denied')
  const apiKey = createKeyTextLike(prefix)
  const { rowCount } = await pool.query(
    `WITH consumed AS (
       UPDATE device_grants SET status = 'consumed'
       WHERE id = $1 AND status = 'approved' AND expires_at > to_timestamp($2::float8 / 1000)
         AND EXISTS (SELECT FROM api_keys WHERE api_keys.id = key_id AND revoked_at IS NULL)
       RETURNING key_id
     ), keyed AS (
       UPDATE api_keys SET digest = $4 FROM consumed WHERE api_keys.id = key_id AND revoked_at IS NULL RETURNING api_keys.id
     )
     INSERT INTO audit (actor, action, subject, details)
     SELECT $3::text, 'device-grant.consume', 'api key ' || id, '{}'::jsonb FROM keyed`,
    [grant.id, nowMs, grantSubject(grant.id), digestOf(apiKey)],
  )
  return rowCount === 1 ? answer(grant, 'approved', apiKey) : answer(grant, 'denied')
}

/** Prefix that the approval showed. */
async function readPrefix(database: Transaction, id: string): Promise<string | undefined> {
  const { rows } = await database.query<{ prefix: string }>(
    'SELECT prefix FROM api_keys JOIN device_grants ON api_keys.id = key_id WHERE device_grants.id = $1',
    [id],
  )
  return rows[0]?.prefix
}
