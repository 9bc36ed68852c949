/** Changes that PostgreSQL rolls back in favour of others, each time they are tried: the answer of each interface says try again. */

import type pg from 'pg'
import t from 'tap'
import { goodPassword } from '../support/accounts.ts'
import { startAdmin } from '../support/admin.ts'
import { startAirQuality } from '../support/air-quality.ts'

/** Every change writes an audit row. */
async function rollBackChanges(pool: pg.Pool, code: string): Promise<void> {
  await pool.query(`CREATE SEQUENCE IF NOT EXISTS audit_tries;
    CREATE OR REPLACE FUNCTION roll_back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM nextval('audit_tries');
      RAISE EXCEPTION USING ERRCODE = '${code}';
    END $$;
    CREATE OR REPLACE TRIGGER roll_back BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION roll_back()`)
}

async function tries(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query("SELECT nextval('audit_tries')::int - 1 AS tries, setval('audit_tries', 1, false)")
  return rows[0].tries
}

const later = { status: 503, headers: { 'retry-after': /^\d+$/ } }

t.test('the admin and the account API', async t => {
  const { ask, people, devices, store } = await startAdmin(t)
  const pool = store.postgres
  for (const code of ['40001', '40P01']) {
    await rollBackChanges(pool, code)
    await tries(pool)
    t.match(await ask('POST', '/devices', [{ name: 'kitchen' }]), { ...later, body: { title: 'database unavailable' } })
    t.equal(await tries(pool), 3)
    const tenant = { slug: 'acme', name: 'Acme' }
    t.match(await ask('POST', '/tenants', tenant), { ...later, body: { title: 'database unavailable' } })
    const account = { email: 'ada@example.com', password: goodPassword }
    t.match(await people.ask('POST', '/register', { body: account }), {
      ...later,
      body: { detail: 'Service Unavailable' },
    })
  }
  t.equal(devices.get('kitchen'), undefined)
  await pool.query('DROP TRIGGER roll_back ON audit')
  t.match(await ask('POST', '/devices', [{ name: 'kitchen' }]), { status: 201 })
})

t.test('the air-quality API', async t => {
  const { ask, person, keyOf, people } = await startAirQuality(t)
  const key = await keyOf(await person('grace@example.com', 'administrator'))
  await rollBackChanges(people.store.postgres, '40P01')
  const answer = await ask('POST', '/device/', { key, body: { sn: 'a', model: 'M1' } })
  t.match(answer, { ...later, body: { id: 'unavailable' } })
})
