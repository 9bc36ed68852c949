/** Silences: their rows, and the holds on notifications by a silence or by a site alert that replaces its devices' alerts. */

import type pg from 'pg'
import { writeAudit } from '../../auth/audit.ts'
import { createSelection, type Selector } from '../../auth/devices/selector.ts'
import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { bounds, type Waits } from '../core/bounds.ts'
import type { AlertDevice } from '../core/devices.ts'
import { accepted, accountOf, type Outcome, type Owner, refused } from '../core/outcome.ts'
import { noDevice, type Rule } from '../core/rule.ts'
import {
  createSilencer,
  isActive,
  type NewSilence,
  type OffsetMs,
  type Silence,
  type Silencing,
} from '../core/silence.ts'
import { isoOrNull } from '../store/alert-rows.ts'
import { reviewHeld } from './group-rows.ts'
import type { HeldMember } from './member-rows.ts'

/** All reject as PostgreSQL does when it is away. */
export interface AlertSilences {
  /** Present and future silences, newest first. */
  list(who: Owner, page: SilencePage): Promise<Silence[]>
  get(who: Owner, id: number): Promise<Silence | undefined>
  add(who: Owner, silence: NewSilence, actor: string): Promise<Outcome<Silence>>
  /** Held alerts that still fire are notified. */
  remove(who: Owner, id: number, actor: string): Promise<Outcome>
}

interface SilencePage {
  limit: number
  /** The id of the last one of the page before. */
  after?: number | undefined
}

interface AlertSilencesOptions {
  pool: pg.Pool
  feed: ChangeFeed
  nowMs: () => number
  /** The service's time zone. */
  offsetMs: OffsetMs
  waits: Pick<Waits, 'groupWaitMs' | 'groupIntervalMs'>
  /** Groups may be due. */
  wake: () => void
}

interface SilenceRecord {
  id: number
  owner: number | null
  selector: Silence['selector']
  rule_id: number | null
  from_at: Date
  until_at: Date | null
  weekly: Silence['weekly']
  reason: string
  created_by: string
  created_at: Date
}

const columns = 'id, owner, selector, rule_id, from_at, until_at, weekly, reason, created_by, created_at'
const stepMs = 4_000
// Any fixed number serves. It is "barosile" in ASCII.
const silencesLock = '7089073111460113509'

export function createAlertSilences(options: AlertSilencesOptions): AlertSilences {
  const { pool, feed, nowMs, offsetMs, waits, wake } = options
  const answerOf = (record: SilenceRecord): Silence => {
    const { owner: _, from_at, until_at, created_at, ...fields } = record
    return {
      ...fields,
      from: from_at.toISOString(),
      until: isoOrNull(until_at),
      created_at: created_at.toISOString(),
      is_active: isActive(silencingOf(record), nowMs(), offsetMs),
    }
  }

  async function add(who: Owner, silence: NewSilence, actor: string): Promise<Outcome<Silence>> {
    const owner = accountOf(who)
    return await feed.commit({ pool, stepMs, lock: silencesLock }, async transaction => {
      if (silence.rule_id !== null && !(await isOwnRule(transaction, who, silence.rule_id)))
        return refused('RULE_UNKNOWN')
      if ((await countLive(transaction, owner, nowMs())) >= bounds.silencesPerOwner) return refused('TOO_MANY_SILENCES')
      const record = await insert(transaction, owner, silence, actor, nowMs())
      const details = { selector: record.selector, rule_id: record.rule_id, until: isoOrNull(record.until_at) }
      await writeAudit(transaction, { actor, action: 'silence.add', subject: `silence ${record.id}`, details })
      return accepted(answerOf(record))
    })
  }

  async function remove(who: Owner, id: number, actor: string): Promise<Outcome> {
    const outcome = await feed.commit({ pool, stepMs }, async transaction => {
      const { rows } = await transaction.query<{ owner: number | null }>(
        `UPDATE alert_silences SET removed_at = to_timestamp($3::float8 / 1000)
         WHERE id = $1 AND removed_at IS NULL AND ($2::integer IS NULL OR owner = $2) RETURNING owner`,
        [id, accountOf(who), nowMs()],
      )
      const [removed] = rows
      if (removed === undefined) return refused('SILENCE_UNKNOWN')
      await writeAudit(transaction, { actor, action: 'silence.remove', subject: `silence ${id}` })
      const owner = removed.owner ?? 'any'
      await reviewHeld(transaction, { owner, silentOnly: false }, { nowMs: nowMs(), waits })
      return accepted(undefined)
    })
    if (outcome.ok) wake()
    return outcome
  }

  return {
    async list(who, { limit, after }) {
      const { rows } = await pool.query<SilenceRecord>(
        `SELECT ${columns} FROM alert_silences
         WHERE removed_at IS NULL AND ($1::integer IS NULL OR owner = $1) AND ($2::integer IS NULL OR id < $2)
           AND (until_at IS NULL OR until_at > to_timestamp($3::float8 / 1000))
         ORDER BY id DESC LIMIT $4`,
        [accountOf(who), after ?? null, nowMs(), limit],
      )
      return rows.map(answerOf)
    },
    async get(who, id) {
      const { rows } = await pool.query<SilenceRecord>(
        `SELECT ${columns} FROM alert_silences WHERE id = $1 AND removed_at IS NULL AND ($2::integer IS NULL OR owner = $2)`,
        [id, accountOf(who)],
      )
      return rows[0] && answerOf(rows[0])
    },
    add,
    remove,
  }
}

async function isOwnRule(transaction: Transaction, who: Owner, id: number): Promise<boolean> {
  const { rowCount } = await transaction.query(
    'SELECT FROM alert_rules WHERE id = $1 AND removed_at IS NULL AND ($2::integer IS NULL OR owner = $2)',
    [id, accountOf(who)],
  )
  return rowCount === 1
}

async function countLive(transaction: Transaction, owner: number | null, nowMs: number): Promise<number> {
  const { rows } = await transaction.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM alert_silences
     WHERE owner IS NOT DISTINCT FROM $1::integer AND removed_at IS NULL
       AND (until_at IS NULL OR until_at > to_timestamp($2::float8 / 1000))`,
    [owner, nowMs],
  )
  return rows[0]?.count ?? 0
}

async function insert(
  transaction: Transaction,
  owner: number | null,
  { selector, rule_id, from, until, weekly, reason }: NewSilence,
  actor: string,
  nowMs: number,
): Promise<SilenceRecord> {
  const { rows } = await transaction.query<SilenceRecord>(
    `INSERT INTO alert_silences (owner, selector, rule_id, from_at, until_at, weekly, reason, created_by, created_at)
     VALUES ($1, $2, $3, coalesce($4::timestamptz, to_timestamp($9::float8 / 1000)), $5, $6, $7, $8, to_timestamp($9::float8 / 1000))
     RETURNING ${columns}`,
    [
      owner,
      JSON.stringify(selector),
      rule_id,
      from ?? null,
      until,
      weekly === null ? null : JSON.stringify(weekly),
      reason,
      actor,
      nowMs,
    ],
  )
  return rows[0] as SilenceRecord
}

function silencingOf({ id, owner, selector, rule_id, from_at, until_at, weekly }: SilenceRecord): Silencing {
  const untilMs = until_at?.getTime() ?? Number.POSITIVE_INFINITY
  return { id, owner, selector, ruleId: rule_id, fromMs: from_at.getTime(), untilMs, weekly }
}

/** Silences that may hold rules of these owners now, including silences of administrators. */
export async function readSilencings(
  database: Pick<pg.Pool, 'query'>,
  owners: readonly (number | null)[],
  nowMs: number,
): Promise<Silencing[]> {
  const { rows } = await database.query<SilenceRecord>(
    `SELECT ${columns} FROM alert_silences
     WHERE removed_at IS NULL AND from_at <= to_timestamp($2::float8 / 1000)
       AND (until_at IS NULL OR until_at > to_timestamp($2::float8 / 1000)) AND (owner IS NULL OR owner = ANY($1::int[]))`,
    [owners, nowMs],
  )
  return rows.map(silencingOf)
}

interface Held {
  by: HeldMember['by']
  /** Time of the next check. */
  untilMs: number
}

interface HoldOptions {
  rule: Pick<Rule, 'id' | 'owner' | 'selector' | 'condition'>
  nowMs: number
  /** Looked at again after so long at the latest. */
  reviewMs: number
  offsetMs: OffsetMs
  deviceOf: (number: number) => AlertDevice | undefined
}

/** Finds the hold on an alert of the rule, by the number of its device (0: without one). */
export type Hold = (device: number) => Held | undefined

export async function readHold(transaction: Transaction, options: HoldOptions): Promise<Hold> {
  const { rule, nowMs, reviewMs, offsetMs, deviceOf } = options
  const horizonMs = nowMs + reviewMs
  const silences = await readSilencings(transaction, [rule.owner], nowMs)
  const silencerOf = createSilencer(silences, { nowMs, horizonMs, offsetMs })
  const sites = rule.condition.kind === 'silent' ? await readSites(transaction, rule.owner) : []
  return number => {
    const device = number === noDevice ? undefined : deviceOf(number)
    const silence = silencerOf({ rule, device })
    if (silence !== undefined) return { by: { silence: silence.id }, untilMs: silence.endsMs }
    const site = device && sites.find(({ isSelected }) => isSelected(device))
    return site && { by: { alert: site.id }, untilMs: horizonMs }
  }
}

/** The alerts for whole selectors that fire now. */
async function readSites(
  transaction: Transaction,
  owner: number | null,
): Promise<{ id: string; isSelected: ReturnType<typeof createSelection> }[]> {
  const { rows } = await transaction.query<{ id: string; selector: Selector }>(
    `SELECT alerts.id, selector FROM alerts JOIN alert_rules ON alert_rules.id = rule_id
     WHERE device = ${noDevice} AND state = 'firing' AND owner IS NOT DISTINCT FROM $1::integer
       AND condition->>'kind' = 'site_silent' ORDER BY alerts.id`,
    [owner],
  )
  return rows.map(({ id, selector }) => ({ id, isSelected: createSelection(selector) }))
}
