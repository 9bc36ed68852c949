/** Refuses each transaction that changes what nodes hold in memory and writes nothing to the feed. */

import type pg from 'pg'

/** By table: the columns that decide nothing, or are taken over by other means. */
const decisive: Readonly<Record<string, readonly string[]>> = {
  devices: ['last_seen', 'next_used'],
  metrics: [],
  metric_series: [],
  accounts: ['password_hash', 'updated_at'],
  sessions: [],
  api_keys: ['last_used_at'],
  tenants: ['secret', 'previous_secret', 'previous_ends_at', 'updated_at', 'name'],
  stations: ['last_data_at'],
  retention: [],
}

export async function guardFeed(pool: pg.Pool): Promise<void> {
  await pool.query(`
    CREATE FUNCTION require_feed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE' AND to_jsonb(OLD) - TG_ARGV = to_jsonb(NEW) - TG_ARGV THEN RETURN NULL; END IF;
      IF NOT EXISTS (SELECT FROM feed WHERE xmin = pg_current_xact_id()::xid) THEN
        RAISE EXCEPTION 'a change (%) of % has no row in the feed', TG_OP, TG_TABLE_NAME;
      END IF;
      RETURN NULL;
    END $$`)
  for (const [table, others] of Object.entries(decisive)) {
    const ignored = others.map(name => `'${name}'`).join(', ')
    // An account that is new is in nobody's memory.
    const events = table === 'accounts' || table === 'tenants' ? 'UPDATE OR DELETE' : 'INSERT OR UPDATE OR DELETE'
    await pool.query(`CREATE CONSTRAINT TRIGGER require_feed AFTER ${events} ON ${table}
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION require_feed(${ignored})`)
  }
}
