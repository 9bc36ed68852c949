/** Takes devices that are erased, or what they have measured, out of alerts and of the notifications that have told of them. */

import type pg from 'pg'

export interface ErasedDevices {
  /** Of the registry, which gives none to another device. */
  numbers: readonly number[]
  /** What they were called, and up to when nothing else was. */
  name: string
  untilMs: number
  /** Of which alone the values are erased; null for the devices as a whole. */
  metric: string | null
}

/** In a statement, so that none keeps rows locked for long. */
const rowsPerStep = 2_000

/**
 * Their alerts stay, so that the counts are right, and say neither what was measured nor, in messages about a device that is erased as
 * a whole, of which one they are; what receivers answered is not kept either. Rejects as PostgreSQL does when it is away, and may be called again.
 */
export async function forgetErased(pool: pg.Pool, { numbers, name, untilMs, metric }: ErasedDevices): Promise<void> {
  await pool.query(forgetValues, [[...numbers], metric])
  let after: string | null = '0'
  while (after !== null) {
    const { rows }: { rows: { last: string | null }[] } = await pool.query(forgetStep, [
      after,
      [...numbers],
      name,
      untilMs,
      metric,
    ])
    after = rows[0]?.last ?? null
  }
}

const forgetValues = `UPDATE alerts SET value = NULL
  WHERE device = ANY($1::int[]) AND ($2::text IS NULL OR metric = $2) AND value IS NOT NULL`

/** Of the numbered devices, or of the name before it could be that of another one; names also tell what no alert is left of. */
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
    RETURNING id
  ), unanswered AS (
    UPDATE alert_attempts SET answer = '' WHERE notification_id IN (SELECT id FROM forgotten)
  )
  SELECT max(id)::text AS last FROM page`
