/** Starts a device's request for an API key. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { type AccountParts, type Client, inNewTransaction } from '../accounts/account-parts.ts'
import { type AccountRefusal, accepted, type Outcome } from '../outcome.ts'
import { TooBusy } from '../too-busy.ts'
import { createDeviceCode, createUserCode, digestOfCode, formatUserCode } from './codes.ts'
import { grantLifetimeMs } from './grant.ts'
import { grantsMax, pendingPerNetworkMax, pollIntervalSeconds, startsByNetwork } from './grant-limits.ts'

export interface StartedGrant {
  /** Only this answer has it. */
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
