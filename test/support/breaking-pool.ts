/** A pool of PostgreSQL whose connections break at a known moment. */

import type pg from 'pg'

/** The same pool, but its connection breaks before the server gets a statement, or after it has done a COMMIT. */
export function breakingPool(breaks: () => 'before' | 'after' | undefined, real: pg.Pool): pg.Pool {
  const breaking = (ask: (...given: unknown[]) => Promise<unknown>) => {
    return async (...given: unknown[]) => {
      const when = breaks()
      const isCommit = (given[0] as pg.QueryConfig).text === 'COMMIT'
      const result = when === 'before' ? undefined : await ask(...given)
      if (when === 'before' || (when === 'after' && isCommit)) throw new Error('Connection terminated unexpectedly')
      return result
    }
  }
  async function connect(): Promise<pg.PoolClient> {
    const client = await real.connect()
    return Object.assign(Object.create(client), { query: breaking(client.query.bind(client) as never) })
  }
  return Object.assign(Object.create(real), { query: breaking(real.query.bind(real) as never), connect })
}

/** From now on PostgreSQL rolls every change back, like a deadlock: every change writes an audit row. */
export async function rollBackChanges(pool: pg.Pool, code: string): Promise<void> {
  await pool.query(`CREATE SEQUENCE IF NOT EXISTS audit_tries;
    CREATE OR REPLACE FUNCTION roll_back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM nextval('audit_tries');
      RAISE EXCEPTION USING ERRCODE = '${code}';
    END $$;
    CREATE OR REPLACE TRIGGER roll_back BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION roll_back()`)
}
