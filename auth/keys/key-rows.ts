/** Reads and writes the rows of API keys. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { subjectOf } from '../accounts/account.ts'
import type { Role } from '../accounts/account-details.ts'
import { writeAudit } from '../audit.ts'
import { queueMail } from '../mail/outbox-rows.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import { scopesOf, scopesWithTags } from '../policy.ts'
import { keysPerAccountMax, type Scope, scopeSet } from './key.ts'
import type { KeyDetails } from './key-lists.ts'
import { createKeyText, digestOf, prefixOf } from './key-text.ts'

export interface KeyRequest {
  accountId: number
  name: string
  scopes: readonly Scope[]
  createDevices: boolean
  /** Limits the key to devices with all these tags; empty for all devices of its owner. */
  tags?: readonly string[]
  /** Null for a key without expiry. */
  expiresMs: number | null
  nowMs: number
  /** Name for the audit; the owner by default. */
  actor?: string
}

export interface NewKey extends KeyDetails {
  /** The key itself, which only this object has. */
  text: string
}

/**
 * Inserts a key with the owner's notification and the audit row. Runs in a transaction of `changeAccount` of this
 * account, whose memory holds the keys. Then `mailDue` sends the notification.
 */
export async function insertKey(transaction: Transaction, request: KeyRequest): Promise<Outcome<NewKey>> {
  const { accountId, name, createDevices, tags = [], expiresMs, nowMs, actor = subjectOf(accountId) } = request
  const owner = await lockOwner(transaction, accountId)
  if (owner === undefined) return refused('ACCOUNT_INACTIVE')
  const allowed = scopesOf(owner.role)
  if (!request.scopes.every(scope => allowed.includes(scope))) return refused('SCOPE_NOT_ALLOWED')
  if (tags.length > 0 && !request.scopes.every(scope => scopesWithTags.includes(scope)))
    return refused('TAGS_NOT_ALLOWED')
  // Unverified addresses are free, while devices stay in the list: a sender has to be reachable.
  const sendsReadings = createDevices || request.scopes.includes('ingest')
  if (sendsReadings && !owner.is_verified) return refused('EMAIL_UNVERIFIED')
  const scopes = scopeSet(request.scopes)
  if ((await countLive(transaction, accountId, nowMs)) >= keysPerAccountMax) return refused('TOO_MANY_KEYS')
  const text = createKeyText()
  const prefix = prefixOf(text)
  const { rows } = await transaction.query<{ id: number }>(
    `INSERT INTO api_keys (account_id, name, digest, prefix, scopes, create_devices, created_at, expires_at, tags)
     VALUES ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000), to_timestamp($8::float8 / 1000), $9)
     RETURNING id`,
    [accountId, name, digestOf(text), prefix, scopes, createDevices, nowMs, expiresMs, tags],
  )
  const [row] = rows
  if (row === undefined) throw new Error('an insertion gives a row')
  const { id } = row
  await queueMail(transaction, { kind: 'key-created', email: owner.email, accountId, nowMs })
  const details = { key: id, prefix, scopes, ...(tags.length === 0 ? {} : { tags }) }
  await writeAudit(transaction, {
    actor,
    action: 'key.create',
    subject: subjectOf(accountId),
    details,
  })
  const times = { createdMs: nowMs, lastUsedMs: null, expiresMs, revokedMs: null }
  return accepted({ id, name, text, prefix, scopes, createDevices, tags, ...times })
}

/** Runs in a transaction of `changeAccount` of this account. */
export async function revokeAllKeys(transaction: Transaction, accountId: number, nowMs: number): Promise<void> {
  await transaction.query(
    'UPDATE api_keys SET revoked_at = to_timestamp($2::float8 / 1000) WHERE account_id = $1 AND revoked_at IS NULL',
    [accountId, nowMs],
  )
}

/** Scopes that the role excludes are removed permanently. Runs in a transaction of `changeAccount` of this account. */
export async function dropScopesBeyond(transaction: Transaction, accountId: number, role: Role): Promise<void> {
  await transaction.query(
    `UPDATE api_keys SET scopes = ARRAY(SELECT scope FROM unnest(scopes) AS scope WHERE scope = ANY($2::text[]))
     WHERE account_id = $1 AND NOT scopes <@ $2::text[]`,
    [accountId, scopesOf(role)],
  )
}

interface Owner {
  email: string
  role: Role
  is_verified: boolean
}

/** Locks the owner, so that a concurrent request counts this key. */
async function lockOwner(transaction: Transaction, id: number): Promise<Owner | undefined> {
  const { rows } = await transaction.query<Owner>(
    `SELECT email, role, email_verified_at IS NOT NULL AS is_verified FROM accounts
     WHERE id = $1 AND is_active FOR NO KEY UPDATE`,
    [id],
  )
  return rows[0]
}

async function countLive(transaction: Transaction, accountId: number, nowMs: number): Promise<number> {
  const { rows } = await transaction.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM api_keys
     WHERE account_id = $1 AND revoked_at IS NULL AND (expires_at > to_timestamp($2::float8 / 1000)) IS NOT FALSE`,
    [accountId, nowMs],
  )
  return rows[0]?.count ?? 0
}

/** Immutable owner of a key. */
export interface KeyHolder {
  id: number
  accountId: number
  lastUsedMs: number | null
}

/** Undefined for an unknown digest and for a revoked key. */
export async function readHolder(database: Transaction, digest: Buffer): Promise<KeyHolder | undefined> {
  const { rows } = await database.query<{ id: number; account_id: number; last_used_at: Date | null }>(
    'SELECT id, account_id, last_used_at FROM api_keys WHERE digest = $1 AND revoked_at IS NULL',
    [digest],
  )
  const [row] = rows
  return row && { id: row.id, accountId: row.account_id, lastUsedMs: row.last_used_at?.getTime() ?? null }
}

export async function readOwner(database: Transaction, id: number): Promise<number | undefined> {
  const { rows } = await database.query<{ account_id: number }>('SELECT account_id FROM api_keys WHERE id = $1', [id])
  return rows[0]?.account_id
}

export async function saveLastUsed(database: Transaction, ids: number[], timesMs: number[]): Promise<void> {
  // A key may be listed twice, once from before it was evicted.
  await database.query(
    `WITH locked AS MATERIALIZED (SELECT id FROM api_keys WHERE id = ANY($1::int[]) ORDER BY id FOR NO KEY UPDATE)
     UPDATE api_keys SET last_used_at = greatest(last_used_at, to_timestamp(used.ms / 1000))
     FROM (SELECT id, max(ms) AS ms FROM unnest($1::int[], $2::float8[]) AS seen (id, ms) GROUP BY id) AS used
       JOIN locked USING (id)
     WHERE api_keys.id = locked.id`,
    [ids, timesMs],
  )
}

export interface Revoked {
  id: number
  revokedMs: number
}

/** Keeps the time of the first revocation. Undefined if the account has no such key. */
export async function revokeKeyRow(
  transaction: Transaction,
  { id, accountId, actor, nowMs }: { id: number; accountId: number; actor: string; nowMs: number },
): Promise<Revoked | undefined> {
  const { rowCount } = await transaction.query(
    `UPDATE api_keys SET revoked_at = to_timestamp($3::float8 / 1000)
     WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL`,
    [id, accountId, nowMs],
  )
  const { rows } = await transaction.query<{ revoked_at: Date }>(
    'SELECT revoked_at FROM api_keys WHERE id = $1 AND account_id = $2',
    [id, accountId],
  )
  const [row] = rows
  if (row === undefined) return undefined
  if (rowCount === 1) {
    const details = { key: id }
    await writeAudit(transaction, { actor, action: 'key.revoke', subject: subjectOf(accountId), details })
  }
  return { id, revokedMs: row.revoked_at.getTime() }
}
