/** Rows of alerts in PostgreSQL, on a clock that a test sets: rules, transitions, and due notifications. */

import type pg from 'pg'
import type { AlertDevice } from '../../alerts/core/devices.ts'
import type { Message } from '../../alerts/core/message.ts'
import type { Owner } from '../../alerts/core/outcome.ts'
import { idlePair, type PairState } from '../../alerts/core/pair.ts'
import { groupValue, NewRule, type Rule } from '../../alerts/core/rule.ts'
import type { Effect } from '../../alerts/core/transition.ts'
import { type FlushOptions, flushGroup } from '../../alerts/outbox/flush-group.ts'
import { readDueGroups } from '../../alerts/outbox/group-rows.ts'
import { createAlertSilences } from '../../alerts/outbox/silence-rows.ts'
import { createAlertList } from '../../alerts/store/alerts.ts'
import { applyTransitions, type Transition } from '../../alerts/store/apply.ts'
import { createAlertRules } from '../../alerts/store/rules.ts'
import { noFeed } from '../../auth/nodes/change-feed.ts'
import { inTransaction } from '../../store/postgres/transaction.ts'

export const startMs = Date.parse('2026-05-04T12:00:00Z')
const waits = { groupWaitMs: 30_000, groupIntervalMs: 300_000, repeatMs: 14_400_000 }
export const everybody: Owner = { all: true, account: null }

export const effects = {
  opened: (atMs: number): Effect => ({ kind: 'opened', atMs }),
  fired: (atMs: number, value = 31): Effect => ({ kind: 'fired', atMs, value }),
  resolved: (atMs: number, reason: Extract<Effect, { kind: 'resolved' }>['reason'] = 'cleared'): Effect => {
    return { kind: 'resolved', atMs, value: 20, reason }
  },
  dropped: (atMs: number): Effect => ({ kind: 'dropped', atMs }),
  flapping: (atMs: number): Effect => ({ kind: 'flapping', atMs }),
  settled: (atMs: number): Effect => ({ kind: 'settled', atMs }),
}

export interface Notified {
  channel: number
  kind: string
  message: Message
}

let cleared: Promise<pg.QueryResult<{ text: string }>> | undefined

/** Clears an empty database. `tagsOf`: tags of a device by its number. */
export async function createAlertStore(pool: pg.Pool, tagsOf: (device: number) => string[] = () => []) {
  await clear(pool)
  let nowMs = startMs
  let batch = 0
  let lastNotification = 0
  const removed = new Set<number>()
  const clock = { nowMs: () => nowMs, offsetMs: () => 0 }
  const deviceOf = (number: number) => (removed.has(number) ? undefined : deviceNumbered(number, tagsOf(number)))
  const shared = { pool, feed: noFeed, waits, wake: () => undefined, ...clock }
  const groupValueOf = (groupBy: string | null, device: number) => groupValue(groupBy, tagsOf(device))
  const rules = createAlertRules({ ...shared, groupValueOf })
  const silences = createAlertSilences(shared)
  const devices = { all: () => [], byNumber: deviceOf }
  const alerts = createAlertList({ pool, feed: noFeed, devices, ...clock })
  async function batchOf(transitions: readonly Transition[]) {
    const groupBy = new Map((await rules.all()).map(rule => [rule.id, rule.group_by]))
    const valueIn = (rule: number, device: number) => groupValueOf(groupBy.get(rule) ?? null, device)
    return {
      batch: ++batch,
      transitions,
      nowMs,
      waits,
      requireLead: async () => undefined,
      feed: noFeed,
      groupValueOf: valueIn,
    }
  }

  const flushOptions = (more: Partial<FlushOptions> = {}): FlushOptions => ({
    ...{ nowMs, waits, deviceOf, offsetMs: clock.offsetMs, publicUrl: 'https://barograph.example' },
    unitOf: metric => (metric === 'temperature' ? '°C' : null),
    kindOf: () => ({ wantsAll: false, refreshMs: undefined }),
    ...more,
  })

  async function notified(): Promise<Notified[]> {
    const { rows } = await pool.query<Notified & { id: string }>(
      'SELECT id, channel_id AS channel, kind, message FROM alert_notifications WHERE id > $1 ORDER BY id',
      [lastNotification],
    )
    lastNotification = Number(rows.at(-1)?.id ?? lastNotification)
    return rows.map(({ id: _, ...row }) => row)
  }

  return {
    rules,
    silences,
    alerts,
    batchOf,
    flushOptions,
    nowMs: () => nowMs,
    pass(seconds: number): void {
      nowMs += seconds * 1000
    },
    removeDevice: (number: number): void => void removed.add(number),
    addAccount: (email?: string) => addAccount(pool, email),
    addChannel: (name?: string, owner?: number) => addChannel(pool, name, owner),
    async addRule(fields: Record<string, unknown> = {}, who = everybody): Promise<Rule> {
      const condition = { kind: 'above', metric: 'temperature', value: 30 }
      const rule = NewRule.parse({ name: `rule ${Math.random()}`, selector: { all: true }, condition, ...fields })
      const added = await rules.add(who, rule, 'test')
      if (!added.ok) throw new Error(added.code)
      return added.value
    },
    transition: transitionOf,
    apply: async (...transitions: readonly Transition[]) => applyTransitions(pool, await batchOf(transitions)),
    /** Flushes all due groups and returns their new notifications. */
    async flush(more: Partial<FlushOptions> = {}): Promise<Notified[]> {
      for (const id of await readDueGroups(pool, nowMs, 1000)) {
        await inTransaction(pool, { stepMs: 4000 }, transaction => flushGroup(transaction, id, flushOptions(more)))
      }
      return await notified()
    },
    standing: () => readStanding(pool),
  }
}

function transitionOf(rule: number, device: number, ...found: readonly Effect[]): Transition {
  return {
    ...{ rule, ruleVersion: 1, device, metric: 'temperature', severity: 'warning' as const },
    effects: found,
    state: stateAfter(found),
  }
}

export type AlertStore = Awaited<ReturnType<typeof createAlertStore>>

function stateAfter(found: readonly Effect[]): PairState {
  const last = found.at(-1)
  if (last === undefined) return idlePair
  const phases = { opened: 'pending', fired: 'firing', flapping: 'firing', settled: 'firing' } as const
  const phase = last.kind === 'resolved' || last.kind === 'dropped' ? 'idle' : phases[last.kind]
  return { ...idlePair, phase, flapping: last.kind === 'flapping', seenUs: last.atMs * 1000, changesMs: [last.atMs] }
}

function deviceNumbered(number: number, tags: string[]): AlertDevice {
  const name = `d${number}`
  return { number, symbol: name, name, tags, owner: null, log_switch: true, location_short: `room ${number}` }
}

/** A DELETE from empty tables is immediate, while a TRUNCATE creates new files for each table, index and referring table. */
async function clear(pool: pg.Pool): Promise<void> {
  cleared ??= pool.query<{ text: string }>(
    `WITH RECURSIVE emptied AS (
       SELECT unnest('{alert_channels,alert_rules,alert_silences,accounts,audit,devices,erase_jobs}'::regclass[]) AS id
       UNION SELECT conrelid FROM emptied JOIN pg_constraint ON confrelid = id AND contype = 'f'
     )
     SELECT 'SET session_replication_role = replica;' || string_agg('DELETE FROM ' || id::regclass, ';')
       || '; RESET session_replication_role; UPDATE alert_engine SET batch = 0, evaluated_until = NULL' AS text
     FROM emptied`,
  )
  await pool.query((await cleared).rows[0]?.text ?? '')
}

async function addAccount(pool: pg.Pool, email = 'ada@example.com'): Promise<number> {
  const text = 'INSERT INTO accounts (email, created_at, updated_at) VALUES ($1, now(), now()) RETURNING id'
  return (await pool.query<{ id: number }>(text, [email])).rows[0]?.id ?? 0
}

async function addChannel(pool: pg.Pool, name = 'phone', owner: number | null = null): Promise<number> {
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO alert_channels (owner, name, kind, settings, sealed, created_at)
     VALUES ($1, $2, 'webhook', '{}', '', now()) RETURNING id`,
    [owner, name],
  )
  return rows[0]?.id ?? 0
}

/** The state of alerts and their pending notifications, without ids. */
async function readStanding(pool: pg.Pool) {
  const text = `SELECT rule_id AS rule, device, state, flapping, resolved_reason AS reason,
      ARRAY['pending'] || CASE WHEN state = 'firing' THEN ARRAY['firing'] ELSE '{}' END
        || ARRAY(SELECT kind FROM alert_events WHERE alert_id = alerts.id ORDER BY at, kind <> 'firing', id) AS events,
      ARRAY(SELECT told || ' ' || coalesce(owes, '-') FROM alert_group_alerts
            WHERE alert_id = alerts.id ORDER BY group_id) AS members
    FROM alerts ORDER BY alerts.id`
  return (await pool.query(text)).rows
}
