/** Takes devices that are erased out of the notifications that have named them. */

import type pg from 'pg'

export interface ErasedDevices {
  /** Of the registry, which gives none to another device. */
  numbers: readonly number[]
  /** What they were called, and up to when nothing else was. */
  name: string
  untilMs: number
}

/** In a statement, so that none keeps rows locked for long. */
const rowsPerStep = 2_000

/**
 * Their alerts stay in the messages, so that the counts are right, and say neither of which device they are nor what it had measured;
 * what receivers answered is not kept either. Rejects as PostgreSQL does when it is away, and may be called again.
 */
export async function forgetErased(pool: pg.Pool, { numbers, name, untilMs }: ErasedDevices): Promise<void> {
  let after: string | null = '0'
  while (after !== null) {
    const { rows }: { rows: { last: string | null }[] } = await pool.query(forgetStep, [
      after,
      [...numbers],
      name,
      untilMs,
    ])
    after = rows[0]?.last ?? null
  }
}

/** Of the numbered devices, or of the name before it could be that of another one; names also tell what no alert is left of. */
const isErased = `((told->>'id')::bigint IN (SELECT id FROM alerts WHERE device = ANY($2::int[]))
  OR (told->>'device' = $3 AND created_at <= to_timestamp($4::float8 / 1000)))`

const toldOf = "jsonb_array_elements(message->'alerts') WITH ORDINALITY AS each (told, place)"

const forgetStep = `
  WITH page AS (
    SELECT id FROM alert_notifications WHERE id > $1::bigint ORDER BY id LIMIT ${rowsPerStep}
  ), forgotten AS (
    UPDATE alert_notifications SET message = jsonb_set(message, '{alerts}', (
      SELECT jsonb_agg(
        CASE WHEN ${isErased}
        THEN told || jsonb_build_object('device', NULL, 'location', '', 'value', NULL, 'url', message->'url')
        ELSE told END ORDER BY place
      ) FROM ${toldOf}
    ))
    WHERE id IN (SELECT id FROM page) AND kind <> 'test' AND EXISTS (SELECT FROM ${toldOf} WHERE ${isErased})
    RETURNING id
  ), unanswered AS (
    UPDATE alert_attempts SET answer = '' WHERE notification_id IN (SELECT id FROM forgotten)
  )
  SELECT max(id)::text AS last FROM page`
