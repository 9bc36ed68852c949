/** Alerts as they are shown: lists of them, one with its history, and who has seen to it. */

import type pg from 'pg'
import { createTagMatcher } from '../../auth/devices/tag.ts'
import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import type { AlertEventRow, AlertRow, AlertState } from '../core/alert.ts'
import type { AlertDevice } from '../core/devices.ts'
import { accepted, type Outcome, type Owner, refused } from '../core/outcome.ts'
import type { Severity } from '../core/rule.ts'
import { createSilencer, type OffsetMs } from '../core/silence.ts'
import { readSilencings } from '../outbox/silence-rows.ts'
import { noteAlerts } from './alert-feed.ts'
import { type AlertRecord, alertColumns, alertRowOf, alertTables } from './alert-rows.ts'

export interface AlertQuery {
  states?: readonly AlertState[]
  severities?: readonly Severity[]
  /** The number of one. */
  device?: number
  /** All must hold, of a device. */
  tag?: readonly string[]
  rule?: number
  /** Not those that were resolved before. */
  sinceMs?: number
  /** At most 1,000. */
  limit: number
  /** The id of the last one of the page before. */
  after?: string
}

export interface AlertWithEvents extends AlertRow {
  /** The latest, oldest first. */
  events: AlertEventRow[]
}

/** All reject as PostgreSQL does when it is away. */
export interface AlertList {
  /** Newest first. */
  page(who: Owner, asked: AlertQuery): Promise<AlertRow[]>
  get(who: Owner, id: string): Promise<AlertWithEvents | undefined>
  /** Ends repeats. One that is acknowledged stays as it is. */
  acknowledge(who: Owner, id: string, actor: string): Promise<Outcome<AlertRow>>
  /** In the order of their ids. */
  byIds(ids: readonly number[]): Promise<AlertRow[]>
  /** Of those that are not resolved; at most ten seconds old. */
  counts(): Promise<AlertCount[]>
}

export interface AlertCount {
  state: AlertState
  severity: Severity
  count: number
}

export interface AlertListOptions {
  pool: pg.Pool
  feed: ChangeFeed
  nowMs: () => number
  /** Of the service's time zone. */
  offsetMs: OffsetMs
  devices: { all(): Iterable<AlertDevice>; byNumber(number: number): AlertDevice | undefined }
  /** Told of what is changed here, after its commit. */
  changed?: (ids: readonly number[]) => void
}

const stepMs = 4_000
const limitMax = 1_000
const eventsMax = 1_000
const countsForMs = 10_000

export function createAlertList(options: AlertListOptions): AlertList {
  const { pool, feed, nowMs, offsetMs, devices, changed = () => undefined } = options
  let counted: { atMs: number; counts: Promise<AlertCount[]> } | undefined

  async function shown(records: readonly AlertRecord[]): Promise<AlertRow[]> {
    const open = records.filter(({ state }) => state !== 'resolved')
    const silences = open.length === 0 ? [] : await readSilencings(pool, ownersOf(open), nowMs())
    const silencerOf = createSilencer(silences, { nowMs: nowMs(), horizonMs: nowMs() + 1, offsetMs })
    return records.map(record => {
      const device = devices.byNumber(record.device)
      const rule = { id: record.rule_id, owner: record.owner, selector: record.selector }
      const silence = record.state === 'resolved' ? undefined : silencerOf({ rule, device })
      return alertRowOf(record, device?.name ?? null, silence?.id ?? null)
    })
  }

  async function page(who: Owner, asked: AlertQuery): Promise<AlertRow[]> {
    const text = `SELECT ${alertColumns} FROM ${alertTables}
      WHERE ($1::integer IS NULL OR owner = $1) AND ($2::text[] IS NULL OR state = ANY($2))
        AND ($3::text[] IS NULL OR a.severity = ANY($3)) AND ($4::int[] IS NULL OR device = ANY($4))
        AND ($5::integer IS NULL OR rule_id = $5)
        AND ($6::float8 IS NULL OR resolved_at IS NULL OR resolved_at >= to_timestamp($6 / 1000))
        AND ($7::bigint IS NULL OR a.id < $7)
      ORDER BY a.id DESC LIMIT $8`
    const { states = null, severities = null, rule = null, sinceMs = null, limit } = asked
    const after = asked.after === undefined ? null : (idOf(asked.after) ?? '0')
    const limits = [devicesOf(asked), rule, sinceMs, after, Math.min(limit, limitMax)]
    const { rows } = await pool.query<AlertRecord>(text, [who.all ? null : who.account, states, severities, ...limits])
    return await shown(rows)
  }

  /** Null: all. */
  function devicesOf({ device, tag }: AlertQuery): number[] | null {
    if (tag === undefined || tag.length === 0) return device === undefined ? null : [device]
    const isTagged = createTagMatcher(tag)
    const tagged = [...devices.all()].filter(isTagged).map(({ number }) => number)
    return device === undefined ? tagged : tagged.filter(number => number === device)
  }

  async function one(who: Owner, id: string | undefined): Promise<AlertRow | undefined> {
    if (id === undefined) return undefined
    const text = `SELECT ${alertColumns} FROM ${alertTables} WHERE a.id = $1 AND ($2::integer IS NULL OR owner = $2)`
    const { rows } = await pool.query<AlertRecord>(text, [id, who.all ? null : who.account])
    return (await shown(rows))[0]
  }

  async function eventsOf(id: string): Promise<AlertEventRow[]> {
    const text = 'SELECT at, kind, details FROM alert_events WHERE alert_id = $1 ORDER BY id DESC LIMIT $2'
    const { rows } = await pool.query<{ at: Date; kind: string; details: Record<string, unknown> }>(text, [
      id,
      eventsMax,
    ])
    return rows.reverse().map(({ at, ...event }) => ({ at: at.toISOString(), ...event }))
  }

  async function acknowledge(who: Owner, id: string, actor: string): Promise<Outcome<AlertRow>> {
    const alert = await one(who, idOf(id))
    if (alert === undefined) return refused('ALERT_UNKNOWN')
    if (alert.state === 'resolved') return refused('ALERT_RESOLVED')
    if (alert.acknowledged_at !== null) return accepted(alert)
    const isDone = await feed.commit({ pool, stepMs }, async transaction => {
      const { rowCount } = await transaction.query(
        `WITH seen AS (
           UPDATE alerts SET acknowledged_by = $2, acknowledged_at = to_timestamp($3::float8 / 1000)
           WHERE id = $1 AND state <> 'resolved' AND acknowledged_at IS NULL RETURNING id, acknowledged_at
         )
         INSERT INTO alert_events (alert_id, at, kind, details)
         SELECT id, acknowledged_at, 'acknowledged', jsonb_build_object('by', $2::text) FROM seen`,
        [id, actor, nowMs()],
      )
      if (rowCount === 1) noteAlerts(feed, transaction, [Number(id)])
      return rowCount === 1
    })
    if (isDone) changed([Number(id)])
    const after = await one(who, id)
    if (after === undefined) return refused('ALERT_UNKNOWN')
    return after.acknowledged_at === null ? refused('ALERT_RESOLVED') : accepted(after)
  }

  return {
    page,
    async get(who, id) {
      const alert = await one(who, idOf(id))
      return alert && { ...alert, events: await eventsOf(alert.id) }
    },
    acknowledge,
    async byIds(ids) {
      const text = `SELECT ${alertColumns} FROM ${alertTables} WHERE a.id = ANY($1::bigint[]) ORDER BY a.id`
      return await shown((await pool.query<AlertRecord>(text, [ids])).rows)
    },
    counts() {
      const atMs = nowMs()
      if (counted === undefined || Math.abs(atMs - counted.atMs) >= countsForMs) {
        const counts = readCounts(pool)
        counted = { atMs, counts }
        // One that has failed is not the answer for ten seconds.
        counts.catch(() => {
          counted = undefined
        })
      }
      return counted.counts
    },
  }
}

async function readCounts(pool: pg.Pool): Promise<AlertCount[]> {
  const { rows } = await pool.query<AlertCount>(
    "SELECT state, severity, count(*)::int AS count FROM alerts WHERE state <> 'resolved' GROUP BY 1, 2 ORDER BY 1, 2",
  )
  return rows
}

function ownersOf(records: readonly AlertRecord[]): (number | null)[] {
  return [...new Set(records.map(({ owner }) => owner))]
}

/** Undefined for what is none. */
function idOf(text: string): string | undefined {
  return /^[1-9]\d{0,17}$/.test(text) ? text : undefined
}
