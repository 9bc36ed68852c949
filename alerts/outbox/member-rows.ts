/** Alerts of a group, with their notified and pending states. */

import type { Transaction } from '../../store/postgres/transaction.ts'

export interface Member {
  id: number
  /** Its number; 0 without one. */
  device: number
  metric: string | null
  state: 'firing' | 'resolved'
  flapping: boolean
  fired_at: Date
  resolved_at: Date | null
  value: number | null
  acknowledged_by: string | null
  told: 'nothing' | 'firing'
  owes: 'firing' | 'flapping' | 'resolved' | null
}

const membersPerRead = 5_000

/** All of a group that is locked, in pieces, the oldest first. */
export async function* readMembers(transaction: Transaction, group: string): AsyncGenerator<readonly Member[]> {
  for (let after = 0; ; ) {
    const { rows } = await transaction.query<Omit<Member, 'id'> & { id: string }>(
      `SELECT alert_id AS id, device, metric, state, flapping, fired_at, resolved_at, value, acknowledged_by, told, owes
       FROM alert_group_alerts JOIN alerts ON alerts.id = alert_id
       WHERE group_id = $1 AND alert_id > $2 ORDER BY alert_id LIMIT $3`,
      [group, after, membersPerRead],
    )
    const members = rows.map(row => ({ ...row, id: Number(row.id) }))
    if (members.length > 0) yield members
    if (members.length < membersPerRead) return
    after = members.at(-1)?.id ?? after
  }
}

/** Returns the alerts whose notifications were held at some time. */
export async function heldBefore(transaction: Transaction, alerts: readonly number[]): Promise<ReadonlySet<number>> {
  if (alerts.length === 0) return new Set()
  const { rows } = await transaction.query<{ id: string }>(
    "SELECT DISTINCT alert_id AS id FROM alert_events WHERE alert_id = ANY($1::bigint[]) AND kind = 'silenced'",
    [alerts],
  )
  return new Set(rows.map(({ id }) => Number(id)))
}

export interface Notified {
  group: string
  channel: { id: number; name: string }
  nowMs: number
}

/** Records that the group has notified the firing or flapping of these alerts. */
export async function markNotified(
  transaction: Transaction,
  notified: Notified,
  alerts: readonly number[],
): Promise<void> {
  if (alerts.length === 0) return
  const text = `UPDATE alert_group_alerts SET told = 'firing', owes = NULL WHERE group_id = $1 AND alert_id = ANY($2::bigint[])`
  await transaction.query(text, [notified.group, alerts])
  await noteEvents(
    transaction,
    alerts,
    'notified',
    { channel: notified.channel.id, name: notified.channel.name },
    notified.nowMs,
  )
}

/** Removes alerts whose notifications are complete. `isNotified`: their end was notified. */
export async function removeMembers(
  transaction: Transaction,
  notified: Notified,
  alerts: readonly number[],
  isNotified: boolean,
): Promise<void> {
  if (alerts.length === 0) return
  const text = 'DELETE FROM alert_group_alerts WHERE group_id = $1 AND alert_id = ANY($2::bigint[])'
  await transaction.query(text, [notified.group, alerts])
  if (!isNotified) return
  const details = { channel: notified.channel.id, name: notified.channel.name, state: 'resolved' }
  await noteEvents(transaction, alerts, 'notified', details, notified.nowMs)
}

async function noteEvents(
  transaction: Transaction,
  alerts: readonly number[],
  kind: string,
  details: object,
  nowMs: number,
): Promise<void> {
  await transaction.query(
    `INSERT INTO alert_events (alert_id, at, kind, details)
     SELECT unnest($1::bigint[]), to_timestamp($4::float8 / 1000), $2, $3`,
    [alerts, kind, JSON.stringify(details), nowMs],
  )
}

export interface HeldMember {
  alert: number
  /** The silence, or the alert for the whole selector, by which it is held. */
  by: { silence: number } | { alert: string }
}

/** Writes one event for each alert and silence. */
export async function noteHeld(transaction: Transaction, held: readonly HeldMember[], nowMs: number): Promise<void> {
  if (held.length === 0) return
  await transaction.query(
    `INSERT INTO alert_events (alert_id, at, kind, details)
     SELECT alert, to_timestamp($2::float8 / 1000), 'silenced', by
     FROM jsonb_to_recordset($1::jsonb) AS given (alert bigint, by jsonb)
     WHERE NOT EXISTS (
       SELECT FROM alert_events WHERE alert_id = alert AND kind = 'silenced' AND alert_events.details = by
     ) ORDER BY alert`,
    [JSON.stringify(held), nowMs],
  )
}

/** Drops pending alerts of a disabled channel. */
export async function dropPending(transaction: Transaction, group: string): Promise<void> {
  await transaction.query(
    `DELETE FROM alert_group_alerts USING alerts
     WHERE group_id = $1 AND alerts.id = alert_id AND (state = 'resolved' OR told = 'nothing')`,
    [group],
  )
  await transaction.query('UPDATE alert_group_alerts SET owes = NULL WHERE group_id = $1', [group])
  await transaction.query('UPDATE alert_groups SET due_at = NULL WHERE id = $1', [group])
}
