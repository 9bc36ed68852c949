/** The device's side of its request for an API key: starts it, and polls until a key can be fetched. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { type AccountParts, type Client, inNewTransaction } from '../accounts/account-parts.ts'
import { createKeyTextLike, digestOf } from '../keys/key-text.ts'
import { type AccountRefusal, accepted, type Outcome, refused } from '../outcome.ts'
import { TooBusy } from '../too-busy.ts'
import {
  createDeviceCode,
  createUserCode,
  digestOfCode,
  findByDeviceCode,
  formatUserCode,
  type Grant,
  grantColumns,
  grantLifetimeMs,
  grantSubject,
  grantsMax,
  isDeviceCode,
  oneGrant,
  pendingPerNetworkMax,
  pollIntervalSeconds,
  pollIntervalSecondsMax,
  slowDownSeconds,
  startsByNetwork,
  stateOf,
} from './grant.ts'

interface StartedGrant {
  /** Only this answer has the device code. */
  deviceCode: string
  userCode: string
  expiresInSeconds: number
  intervalSeconds: number
}

/** Retries with another user code if one is in use: at most some ten thousand of 25 thousand million codes are. */
const attemptsMax = 3
const busySeconds = 60

export async function startGrant(
  parts: AccountParts,
  clientName: string,
  client: Client,
): Promise<Outcome<StartedGrant>> {
  const { pool, limits } = parts
  const retryAfterSeconds = await limits.take(startsByNetwork, client.network)
  if (retryAfterSeconds !== undefined) return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
  const nowMs = parts.nowMs()
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const codes = { deviceCode: createDeviceCode(), userCode: createUserCode() }
    if (await inNewTransaction(parts, transaction => insert(transaction, codes, clientName, client, nowMs))) {
      return accepted({
        deviceCode: codes.deviceCode,
        userCode: formatUserCode(codes.userCode),
        expiresInSeconds: grantLifetimeMs / 1000,
        intervalSeconds: pollIntervalSeconds,
      })
    }
    const refusal = await whyFull(pool, client, nowMs)
    if (refusal !== undefined) return refusal
  }
  throw new TooBusy('no user code is free', busySeconds)
}

// An arbitrary fixed number: "barogrnt" in ASCII.
const grantsLock = '7089073111260360308'

/** False above the limit, or if the user code is in use. */
async function insert(
  transaction: Transaction,
  { deviceCode, userCode }: { deviceCode: string; userCode: string },
  clientName: string,
  { address, network }: Client,
  nowMs: number,
): Promise<boolean> {
  // Held until the end of the transaction, so that a concurrent one counts this grant.
  await transaction.query('SELECT pg_advisory_xact_lock($1::bigint)', [grantsLock])
  const { rowCount } = await transaction.query(
    `INSERT INTO device_grants (device_digest, user_digest, client_name, address, network, created_at, expires_at,
       interval_seconds)
     SELECT $1::bytea, $2::bytea, $3::text, $4::text, $5::text, at, to_timestamp($7::float8 / 1000), $8::integer
     FROM (SELECT to_timestamp($6::float8 / 1000) AS at) AS clock
     WHERE (SELECT count(*) FROM (SELECT 1 FROM device_grants
         WHERE network = $5 AND status = 'pending' AND expires_at > at LIMIT $9) AS own) < $9
       AND (SELECT count(*) FROM (SELECT 1 FROM device_grants WHERE expires_at > at LIMIT $10) AS live) < $10
     ON CONFLICT (user_digest) DO NOTHING`,
    [
      digestOfCode(deviceCode),
      digestOfCode(userCode),
      clientName,
      address,
      network,
      nowMs,
      nowMs + grantLifetimeMs,
      pollIntervalSeconds,
      pendingPerNetworkMax,
      grantsMax,
    ],
  )
  return rowCount === 1
}

/** Undefined below the limits. */
async function whyFull(database: Transaction, { network }: Client, nowMs: number): Promise<AccountRefusal | undefined> {
  const { rows } = await database.query<{ own: number; own_ends_ms: number | null; live: number }>(
    `SELECT count(*) FILTER (WHERE network = $1 AND status = 'pending')::integer AS own,
       (date_part('epoch', min(expires_at) FILTER (WHERE network = $1 AND status = 'pending')) * 1000)::float8 AS own_ends_ms,
       count(*)::integer AS live
     FROM device_grants WHERE expires_at > to_timestamp($2::float8 / 1000)`,
    [network, nowMs],
  )
  const [counts] = rows
  if (counts === undefined) return undefined
  if (counts.own >= pendingPerNetworkMax) {
    const waitMs = Math.min((counts.own_ends_ms ?? nowMs) - nowMs, grantLifetimeMs)
    return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) }
  }
  if (counts.live >= grantsMax) throw new TooBusy('too many devices wait to be approved', busySeconds)
  return undefined
}

interface Polled {
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
