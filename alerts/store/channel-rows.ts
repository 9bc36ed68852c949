/** Rows of channels, with public and encrypted settings. */

import type { SecretBox } from '../../auth/secret-box.ts'
import { bug } from '../../store/limits/bug.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Channel, ChannelKindName } from '../core/channel.ts'
import type { Owner } from '../core/outcome.ts'
import type { OwnSecrets } from '../delivery/kinds/kind.ts'

export interface ChannelRow {
  id: number
  owner: number | null
  name: string
  kind: ChannelKindName
  /** Public settings. */
  settings: Record<string, string | boolean>
  sealed: Buffer
  enabled: boolean
  disabled_reason: Channel['disabled_reason']
  failing_since: Date | null
  version: number
  created_at: Date
}

/** Encrypted part: secret settings, and secrets that the service created. */
export interface Sealed {
  settings: Record<string, string | boolean>
  own: OwnSecrets
}

const channelColumns =
  'id, owner, name, kind, settings, sealed, enabled, disabled_reason, failing_since, version, created_at'

export function sealChannel(box: SecretBox, id: number, sealed: Sealed): Buffer {
  return box.seal(JSON.stringify(sealed), contextOf(id))
}

/** Throws where another key encrypted it, for instance of another data directory. */
export function openSealed(box: SecretBox, { id, sealed }: Pick<ChannelRow, 'id' | 'sealed'>): Sealed {
  return JSON.parse(box.open(sealed, contextOf(id))) as Sealed
}

function contextOf(id: number): string {
  return `alert channel ${id}`
}

/** A channel that is not removed. A lock holds until the end of the transaction. */
export async function readChannel(
  database: Transaction,
  id: number,
  lock: '' | 'FOR SHARE' | 'FOR NO KEY UPDATE' = '',
): Promise<ChannelRow | undefined> {
  const text = `SELECT ${channelColumns} FROM alert_channels WHERE id = $1 AND removed_at IS NULL ${lock}`
  return (await database.query<ChannelRow>(text, [id])).rows[0]
}

/** Ids ascend. */
export async function readChannels(
  database: Transaction,
  who: Owner,
  { after = 0, limit }: { after?: number | undefined; limit: number },
): Promise<ChannelRow[]> {
  const text = `SELECT ${channelColumns} FROM alert_channels
    WHERE removed_at IS NULL AND ($1 OR owner = $2) AND id > $3 ORDER BY id LIMIT $4`
  return (await database.query<ChannelRow>(text, [who.all, who.account, after, limit])).rows
}

/** Cancels the notifications that wait for a channel. A claim stays: a sender may be sending. */
export async function cancelWaiting(transaction: Transaction, channel: number, nowMs: number): Promise<void> {
  await transaction.query(
    `UPDATE alert_notifications SET state = 'cancelled', ended_at = to_timestamp($2::float8 / 1000)
     WHERE channel_id = $1 AND state = 'waiting'`,
    [channel, nowMs],
  )
}

export type DisabledReason = NonNullable<ChannelRow['disabled_reason']>

/** The service disables the channel. False if it is disabled already, or removed. */
export async function disableChannel(
  transaction: Transaction,
  { channel, reason, nowMs }: { channel: number; reason: DisabledReason; nowMs: number },
): Promise<boolean> {
  const { rowCount } = await transaction.query(
    `UPDATE alert_channels SET enabled = false, disabled_reason = $2, version = version + 1
     WHERE id = $1 AND enabled AND removed_at IS NULL`,
    [channel, reason],
  )
  await cancelWaiting(transaction, channel, nowMs)
  return rowCount === 1
}

export async function countChannels(database: Transaction, owner: number | null): Promise<number> {
  const text = `SELECT count(*)::int AS count FROM alert_channels
    WHERE owner IS NOT DISTINCT FROM $1 AND removed_at IS NULL`
  return (await database.query<{ count: number }>(text, [owner])).rows[0]?.count ?? 0
}

/** The id is part of the encryption of the secrets, so it is known before the row exists. */
export async function nextChannelId(transaction: Transaction): Promise<number> {
  const text = "SELECT nextval(pg_get_serial_sequence('alert_channels', 'id'))::int AS id"
  return only((await transaction.query<{ id: number }>(text)).rows).id
}

export async function insertChannel(
  transaction: Transaction,
  channel: Pick<ChannelRow, 'id' | 'owner' | 'name' | 'kind' | 'settings' | 'sealed' | 'enabled'> & { nowMs: number },
): Promise<ChannelRow> {
  const { id, owner, name, kind, settings, sealed, enabled, nowMs } = channel
  const { rows } = await transaction.query<ChannelRow>(
    `INSERT INTO alert_channels (id, owner, name, kind, settings, sealed, enabled, created_at)
     OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6, $7, to_timestamp($8::float8 / 1000)) RETURNING ${channelColumns}`,
    [id, owner, name, kind, JSON.stringify(settings), sealed, enabled, nowMs],
  )
  return only(rows)
}

/** The caller has locked the row. */
export async function saveChannel(transaction: Transaction, channel: ChannelRow): Promise<ChannelRow> {
  const { id, name, settings, sealed, enabled, disabled_reason, failing_since } = channel
  const { rows } = await transaction.query<ChannelRow>(
    `UPDATE alert_channels SET name = $2, settings = $3, sealed = $4, enabled = $5, disabled_reason = $6, failing_since = $7,
       version = version + 1
     WHERE id = $1 RETURNING ${channelColumns}`,
    [id, name, JSON.stringify(settings), sealed, enabled, disabled_reason, failing_since],
  )
  return only(rows)
}

/** Keeps the row for its history without secrets, and drops pending notifications. */
export async function removeChannel(transaction: Transaction, id: number, nowMs: number): Promise<void> {
  await transaction.query(
    `UPDATE alert_channels SET removed_at = to_timestamp($2::float8 / 1000), enabled = false, settings = '{}', sealed = ''
     WHERE id = $1`,
    [id, nowMs],
  )
  for (const table of ['alert_rule_channels', 'alert_groups', 'alert_unsubscribes']) {
    await transaction.query(`DELETE FROM ${table} WHERE channel_id = $1`, [id])
  }
  // Last: no group makes another one any more.
  await cancelWaiting(transaction, id, nowMs)
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows
  if (row === undefined) throw bug('a change of a channel gives a row')
  return row
}
