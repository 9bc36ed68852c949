/** Removes erased devices, or their measured values, from alerts, notifications and mail files. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { MailTransport } from '../../auth/mail/mail-transport.ts'
import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import type { Log } from '../../store/log.ts'
import { alertsHeader } from '../delivery/kinds/email.ts'
import { noteAlerts } from '../store/alert-rows.ts'

export interface ErasedDevices {
  /** Registry numbers, which are never assigned twice. */
  numbers: readonly number[]
  /** Their names, and the time until which no other device had the name. */
  name: string
  untilMs: number
  /** Metric whose values are erased. Null erases the devices completely. */
  metric: string | null
}

export interface ForgetOptions {
  pool: pg.Pool
  nowMs: () => number
  feed: ChangeFeed
}

/** A limit for each statement keeps rows from being locked for long. */
const rowsPerStep = 2_000
const stepMs = 30_000
const claimPollMs = 100

/**
 * Alerts stay for the counts, without their values and, for a device that is erased completely, without its name. Answers of
 * receivers are removed. Resolves with the ids of the alerts that had values, once no delivery of an earlier message is in flight.
 * Rejects while PostgreSQL is unavailable, and may be called again.
 */
export async function forgetErased(options: ForgetOptions, erased: ErasedDevices): Promise<number[]> {
  const { pool, feed } = options
  const { numbers, name, untilMs, metric } = erased
  const alertIds = await feed.commit({ pool, stepMs }, async transaction => {
    const { rows } = await transaction.query<{ id: string }>(forgetValues, [[...numbers], metric])
    await transaction.query(forgetPairs, [[...numbers], metric])
    const ids = rows.map(({ id }) => Number(id))
    noteAlerts(feed, transaction, ids)
    return ids
  })
  // A notification that is being made has read the values, and is there when its group is free.
  await pool.query(lockGroups, [[...numbers]])
  const forgotten: Forgotten[] = []
  let after: string | null = '0'
  while (after !== null) {
    const { rows }: { rows: StepRow[] } = await pool.query(forgetStep, [after, [...numbers], name, untilMs, metric])
    after = rows[0]?.last ?? null
    for (const { id, claimedMs } of rows) if (id !== null) forgotten.push({ id, claimedMs })
  }
  await forgetAnswers(options, forgotten)
  return alertIds
}

interface Forgotten {
  id: string
  claimedMs: number | null
}

interface StepRow {
  last: string | null
  id: string | null
  claimedMs: number | null
}

/** A delivery in flight ends before, at most when its claim does. Its receiver's answer is erased too. */
async function forgetAnswers({ pool, nowMs }: ForgetOptions, forgotten: readonly Forgotten[]): Promise<void> {
  const claims = forgotten.filter(({ claimedMs }) => claimedMs !== null)
  const ids = claims.map(({ id }) => id)
  const claimedMs = claims.map(each => each.claimedMs)
  while (claims.length > 0) {
    const { rows } = await pool.query(readClaims, [ids, claimedMs, nowMs()])
    if (rows.length === 0) break
    await sleep(claimPollMs)
  }
  for (let from = 0; from < forgotten.length; from += rowsPerStep) {
    const some = forgotten.slice(from, from + rowsPerStep).map(({ id }) => id)
    await pool.query(`UPDATE alert_attempts SET answer = '' WHERE notification_id = ANY($1::bigint[])`, [some])
  }
}

const ofErased = 'device = ANY($1::int[]) AND ($2::text IS NULL OR metric = $2)'

const forgetValues = `
  WITH events AS (
    UPDATE alert_events SET details = details - 'value'
    WHERE alert_id IN (SELECT id FROM alerts WHERE ${ofErased}) AND details ? 'value' RETURNING alert_id
  ), changed AS (
    UPDATE alerts SET value = NULL WHERE ${ofErased} AND value IS NOT NULL RETURNING id
  )
  SELECT id FROM changed UNION SELECT alert_id FROM events`

const forgetPairs = `
  UPDATE alert_pairs SET state = (state - 'samples') || '{"value":null}'
  FROM alert_rules AS r, unnest($1::int[]) AS erased (device)
  WHERE rule_id = r.id AND alert_pairs.device = erased.device AND ($2::text IS NULL OR condition->>'metric' = $2)`

const lockGroups = `
  SELECT FROM alert_groups WHERE id IN (
    SELECT group_id FROM alert_group_alerts JOIN alerts ON alerts.id = alert_id WHERE device = ANY($1::int[])
  ) ORDER BY id FOR UPDATE`

const readClaims = `
  SELECT FROM alert_notifications AS n JOIN unnest($1::bigint[], $2::float8[]) AS claim (id, ms) ON n.id = claim.id
  WHERE claimed_until = to_timestamp(ms / 1000) AND ms > $3::float8 LIMIT 1`

/** Matches numbered devices, or the name before another device could have it. Names also match notifications without an alert. */
const isErased = `((told->>'id')::bigint IN (SELECT id FROM alerts WHERE device = ANY($2::int[]))
  OR (told->>'device' = $3 AND created_at <= to_timestamp($4::float8 / 1000)))
  AND ($5::text IS NULL OR told->>'metric' = $5)`

const toldOf = "jsonb_array_elements(message->'alerts') WITH ORDINALITY AS each (told, place)"

const forgetStep = `
  WITH page AS (
    SELECT id FROM alert_notifications WHERE id > $1::bigint ORDER BY id LIMIT ${rowsPerStep}
  ), forgotten AS (
    UPDATE alert_notifications SET message = jsonb_set(message, '{alerts}', (
      SELECT jsonb_agg(
        CASE WHEN ${isErased}
        THEN told || jsonb_build_object('value', NULL) || CASE WHEN $5::text IS NULL
          THEN jsonb_build_object('device', NULL, 'location', '', 'url', message->'url') ELSE '{}' END
        ELSE told END ORDER BY place
      ) FROM ${toldOf}
    ))
    WHERE id IN (SELECT id FROM page) AND kind <> 'test' AND EXISTS (SELECT FROM ${toldOf} WHERE ${isErased})
    RETURNING id, 1000 * extract(epoch FROM claimed_until)::float8 AS "claimedMs"
  )
  SELECT last, id, "claimedMs" FROM (SELECT max(id)::text AS last FROM page) AS page LEFT JOIN forgotten ON true`

export interface ErasedMailsOptions {
  pool: pg.Pool
  feed: ChangeFeed
  log: Pick<Log, 'warn'>
  removeMails: MailTransport['removeWritten']
}

export interface ErasedMails {
  /** Removes the mails at this node and at all others that take requests. */
  removeEverywhere(): Promise<void>
  close(): Promise<void>
}

/**
 * Removes files of mails about erased devices and metrics, also at the start: a node that did not run has missed an erase. Mails about
 * alerts that PostgreSQL does not keep any more go too, as no row has their device.
 */
export function openErasedMails({ pool, feed, log, removeMails }: ErasedMailsOptions): ErasedMails {
  const remove = () =>
    removeMails(alertsHeader, async values => {
      const ids = [...values].filter(value => /^\d{1,18}$/.test(value))
      const { rows } = await pool.query<{ id: string }>(readErasedAlerts, [ids])
      return new Set(rows.map(({ id }) => id))
    })
  const removeOwn = () =>
    remove().catch(error => log.warn({ err: error }, 'cannot remove files of mails about erased devices'))
  feed.onChange('erased-mail', removeOwn)
  const started = removeOwn()
  return {
    async removeEverywhere() {
      await remove()
      await feed.commit({ pool, stepMs }, async transaction => feed.note(transaction, 'erased-mail'))
      await feed.settle()
    },
    close: () => started,
  }
}

/** A metric that the device sends again has alerts of its own. */
const readErasedAlerts = `
  SELECT mailed.id::text FROM unnest($1::bigint[]) AS mailed (id) LEFT JOIN alerts ON alerts.id = mailed.id
  WHERE alerts.id IS NULL
    OR device IN (SELECT unnest(numbers) FROM erase_jobs WHERE rows_of = 'readings')
    OR EXISTS (
      SELECT FROM erase_jobs AS job
      WHERE job.device = alerts.device AND job.metric = alerts.metric AND opened_at <= coalesce(finished_at, 'infinity')
    )`
