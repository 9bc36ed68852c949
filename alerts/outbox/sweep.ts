/** Removes ended rows. Its time has no effect on alerts. */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'

export interface AlertSweep {
  /** Rejects as PostgreSQL does when it is away. */
  run(): Promise<void>
  close(): Promise<void>
}

export interface AlertSweepOptions {
  pool: pg.Pool
  nowMs: () => number
  leads: () => boolean
  log: Pick<Log, 'warn'>
}

const intervalMs = 3_600_000
/** A limit for each statement keeps rows from being locked for long. */
const rowsMax = 5_000

const unnotified = 'NOT EXISTS (SELECT FROM alert_group_alerts WHERE alert_id = alerts.id)'

/** Table, key and condition on the time at $1. Dependent rows are deleted too. */
const steps: readonly { table: string; from?: string; where: string }[] = [
  { table: 'alert_notifications', where: "state <> 'waiting' AND ended_at <= $1::timestamptz - interval '30 days'" },
  {
    table: 'alerts',
    where: `state = 'resolved' AND resolved_at <= $1::timestamptz - interval '366 days' AND ${unnotified}`,
  },
  {
    table: 'alerts',
    from: 'devices JOIN alerts ON device = number',
    where: `removed_at <= $1 AND state = 'resolved' AND ${unnotified}`,
  },
  {
    table: 'alert_groups',
    where: `due_at IS NULL AND last_sent_at <= $1::timestamptz - interval '1 day'
      AND NOT EXISTS (SELECT FROM alert_group_alerts WHERE group_id = alert_groups.id)`,
  },
  {
    table: 'alert_rules',
    where: `removed_at <= $1 AND NOT EXISTS (SELECT FROM alerts WHERE rule_id = alert_rules.id)
      AND NOT EXISTS (SELECT FROM alert_notifications WHERE rule_id = alert_rules.id)`,
  },
  {
    table: 'alert_channels',
    where: 'removed_at <= $1 AND NOT EXISTS (SELECT FROM alert_notifications WHERE channel_id = alert_channels.id)',
  },
  { table: 'alert_silences', where: "least(removed_at, until_at) <= $1::timestamptz - interval '30 days'" },
]

/** An idle pair keeps its state for two hours after its last change. */
const idlePairs = `DELETE FROM alert_pairs WHERE (rule_id, device) IN (
  SELECT rule_id, device FROM alert_pairs
  WHERE changed_at <= $1::timestamptz - interval '2 hours' AND state->>'phase' = 'idle' AND state->>'flapping' = 'false'
  ORDER BY changed_at LIMIT ${rowsMax})`

const statements: readonly string[] = [
  ...steps.map(({ table, from = table, where }) => {
    return `DELETE FROM ${table} WHERE id IN (SELECT ${table}.id FROM ${from} WHERE ${where} LIMIT ${rowsMax})`
  }),
  idlePairs,
]

export function createAlertSweep({ pool, nowMs, leads, log }: AlertSweepOptions): AlertSweep {
  let isClosed = false
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<void> {
    const at = new Date(nowMs())
    for (const text of statements) {
      let removed: number | null = rowsMax
      while (removed === rowsMax && !isClosed && leads()) removed = (await pool.query(text, [at])).rowCount
    }
  }

  const timer = setInterval(() => {
    running = run().catch(error => {
      log.warn({ err: error }, 'old alerts and notifications could not be removed; the next run tries again')
    })
  }, intervalMs)
  timer.unref()
  return {
    run,
    async close() {
      isClosed = true
      clearInterval(timer)
      await running
    },
  }
}
