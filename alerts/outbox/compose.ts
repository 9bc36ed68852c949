/** Writes the message of a notification from the alerts of its group. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { AlertDevice } from '../core/devices.ts'
import { deviceUrl, type Message, type MessageAlert, type MessageType, ruleAlertsUrl } from '../core/message.ts'
import { noDevice, type Rule } from '../core/rule.ts'
import type { Member } from './member-rows.ts'
import type { NotificationKind } from './notification-rows.ts'

export interface ComposeOptions {
  rule: Pick<Rule, 'id' | 'name' | 'severity' | 'note' | 'condition' | 'group_by'>
  /** Value of the tag that separates groups of the rule. */
  value: string
  nowMs: number
  publicUrl: string
  deviceOf: (number: number) => Pick<AlertDevice, 'name' | 'location_short'> | undefined
  unitOf: (metric: string) => string | null
}

const typeOf: Record<NotificationKind, MessageType> = {
  firing: 'alert.firing',
  resolved: 'alert.resolved',
  flapping: 'alert.flapping',
  repeat: 'alert.repeat',
  refresh: 'alert.repeat',
  test: 'alert.test',
}

export function composeMessage(
  kind: NotificationKind,
  named: readonly Member[],
  counts: Message['counts'],
  options: ComposeOptions,
): Message {
  const { rule, value, nowMs, publicUrl } = options
  const { id, name, severity, note, condition } = rule
  return {
    type: typeOf[kind],
    timestamp: new Date(nowMs).toISOString(),
    rule: { id, name, severity, note, condition },
    group: groupOf(rule, value),
    counts,
    devices_left_out: counts.firing + counts.flapping + counts.resolved - named.length,
    alerts: named.map(member => alertOf(member, options)),
    url: ruleAlertsUrl(publicUrl, id),
  }
}

export function groupOf({ group_by }: Pick<Rule, 'group_by'>, value: string): Message['group'] {
  return group_by === null ? null : { tag: group_by, value }
}

function alertOf(member: Member, { rule, publicUrl, deviceOf, unitOf }: ComposeOptions): MessageAlert {
  const device = member.device === noDevice ? undefined : deviceOf(member.device)
  return {
    id: String(member.id),
    state: stateOf(member),
    device: device?.name ?? null,
    location: device?.location_short ?? '',
    metric: member.metric,
    value: member.value,
    unit: member.metric === null ? null : unitOf(member.metric),
    fired_at: member.fired_at.toISOString(),
    resolved_at: member.resolved_at?.toISOString() ?? null,
    acknowledged_by: member.acknowledged_by,
    url: device === undefined ? ruleAlertsUrl(publicUrl, rule.id) : deviceUrl(publicUrl, device.name),
  }
}

function stateOf({ state, flapping }: Pick<Member, 'state' | 'flapping'>): MessageAlert['state'] {
  return state === 'resolved' ? 'resolved' : flapping ? 'flapping' : 'firing'
}

/** The list names this many alerts, the latest ones. */
class Latest {
  readonly #max: number
  #members: Member[] = []

  constructor(max: number) {
    this.#max = max
  }

  add(member: Member): void {
    this.#members.push(member)
    if (this.#members.length >= 2 * this.#max) this.#members = this.#members.slice(-this.#max)
  }

  newestFirst(): Member[] {
    return this.#members.slice(-this.#max).reverse()
  }
}

export class NotifiedList {
  readonly #max: number
  readonly #news: Latest
  readonly #ended: Latest
  readonly #others: Latest
  readonly counts: Message['counts'] = { firing: 0, resolved: 0, flapping: 0, silenced: 0 }

  constructor(max: number) {
    this.#max = max
    this.#news = new Latest(max)
    this.#ended = new Latest(max)
    this.#others = new Latest(max)
  }

  /** Oldest first. */
  add(member: Member): void {
    const state = stateOf(member)
    this.counts[state]++
    if (state === 'resolved') this.#ended.add(member)
    else if (member.owes === null) this.#others.add(member)
    else this.#news.add(member)
  }

  /** The number of all notified alerts. */
  size(): number {
    return this.counts.firing + this.counts.flapping + this.counts.resolved
  }

  /** News first, then by time, latest first. */
  named(): Member[] {
    return [this.#news, this.#ended, this.#others].flatMap(list => list.newestFirst()).slice(0, this.#max)
  }
}

type Named = Pick<AlertDevice, 'name' | 'location_short'>

export async function devicesNamed(
  transaction: Transaction,
  members: readonly Member[],
  deviceOf: (number: number) => Named | undefined,
): Promise<(number: number) => Named | undefined> {
  const removed = members
    .map(({ device }) => device)
    .filter(device => device !== noDevice && deviceOf(device) === undefined)
  if (removed.length === 0) return deviceOf
  const text = `SELECT number, name, location_short FROM devices WHERE number = ANY($1::int[])
    AND NOT EXISTS (SELECT FROM erase_jobs WHERE rows_of = 'readings' AND devices.number = ANY(numbers))`
  const { rows } = await transaction.query<Named & { number: number }>(text, [removed])
  const names = new Map(rows.map(row => [row.number, row]))
  return number => deviceOf(number) ?? names.get(number)
}
