/**
 * Changes of devices while PostgreSQL is frozen or commits late. A rejected change is never made. While its outcome is unknown, a
 * possibly revoked credential is rejected.
 */

import t, { type Test } from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { type Devices, type DevicesOptions, openDevices } from '../../auth/devices/devices.ts'
import { valueIn } from '../support/changed.ts'
import { closing, nowhere, silentLog, startDatabases } from '../support/databases.ts'
import { freeze } from '../support/frozen.ts'
import { serverPid, until } from '../support/processes.ts'

const { directory, store } = await startDatabases(t, nowhere)
const pool = store.postgres
const pid = serverPid(directory, 'postgres')
const away = { ok: false, code: 'DATABASE_AWAY' }
const unknown = { ok: false, code: 'OUTCOME_UNKNOWN' }

async function open(t: Test, options: Partial<DevicesOptions> = {}): Promise<Devices> {
  const settings = { pool, now: Date.now, log: silentLog, graceMs: 3_600_000, stepMs: 3_000 }
  return closing(t, await openDevices({ ...settings, ...options }))
}

async function add(devices: Devices, ...names: string[]): Promise<string[]> {
  const made = names.map(name => NewDevice.parse({ name }))
  return valueIn(await devices.add(made, 'test')).map(({ password }) => password)
}

/** Returns the columns that a change may modify. */
async function registry(): Promise<unknown[]> {
  const { rows } = await pool.query(`SELECT name, encode(credential_current, 'hex'), encode(credential_next, 'hex'),
    removed_at, location_short, auth_seq FROM devices ORDER BY number`)
  return rows
}

t.test('changes during a freeze of PostgreSQL are rejected, and not made after it', async t => {
  const devices = await open(t)
  const [password = ''] = await add(devices, 'kitchen', 'roof')
  const before = await registry()
  const { number = 0 } = devices.get('kitchen') ?? {}
  const thaw = freeze(pid)
  t.teardown(thaw)
  const changes = [
    devices.remove(number, 'test'),
    devices.add([NewDevice.parse({ name: 'attic' })], 'test'),
    devices.rotate('kitchen', true, 'test'),
    devices.rotate('roof', false, 'test'),
    devices.change('roof', { location_short: 'R' }, 'test'),
    devices.removeNamed('roof', transaction => transaction.query('SELECT 1'), 'test'),
  ]
  for (const changed of await Promise.all(changes)) t.strictSame(changed, away)
  t.ok(devices.authenticate('kitchen', password), 'who was known comes in')
  t.notOk(devices.get('kitchen')?.suspended)
  thaw()
  await until('it answers', () => devices.change('roof', { battery: true }, 'test').then(({ ok }) => ok))
  const after = await registry()
  t.strictSame(after[0], before[0])
  t.equal(after.length, 2)
  t.ok(devices.authenticate('kitchen', password))
})

t.test('a change that loses its connection in its last step is not made', async t => {
  const devices = await open(t)
  await add(devices, 'middle')
  let thaw = (): void => undefined
  const freezeNow = async () => {
    thaw = freeze(pid)
    t.teardown(thaw)
  }
  t.strictSame(await devices.removeNamed('middle', freezeNow, 'test'), away)
  thaw()
  t.ok(await devices.reconcile())
  t.ok(devices.get('middle'))
  await until('it answers', () => devices.rotate('middle', false, 'test').then(({ ok }) => ok))
})

/** Each COMMIT that changes a device waits for the lock, as on a slow server. */
await pool.query(`CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NULL; END'`)
await pool.query(`CREATE CONSTRAINT TRIGGER wait AFTER INSERT OR UPDATE ON devices DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION wait_at_commit()`)

async function holdCommits(t: Test): Promise<{ commit(): Promise<void>; fail(): Promise<void> }> {
  const holder = await pool.connect()
  t.teardown(() => holder.release(true))
  await holder.query('SELECT pg_advisory_lock(42)')
  return {
    commit: async () => void (await holder.query('SELECT pg_advisory_unlock(42)')),
    fail: async () => {
      await holder.query("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
      await holder.query('SELECT pg_advisory_unlock(42)')
    },
  }
}

t.test('an unconfirmed removal or revocation rejects the device until its outcome is known', async t => {
  const devices = await open(t)
  const [, password = ''] = await add(devices, 'removed', 'rotated', 'other')
  const asks = {
    removed: () => devices.remove(devices.get('removed')?.number ?? 0, 'test'),
    rotated: () => devices.rotate('rotated', true, 'test'),
  }
  for (const [name, ask] of Object.entries(asks)) {
    const held = await holdCommits(t)
    t.strictSame(await ask(), unknown)
    t.ok(devices.get(name)?.suspended, `${name} logs nothing`)
    t.notOk(devices.get('other')?.suspended)
    t.equal(await devices.reconcile(), false)
    t.strictSame(await devices.change('other', { battery: true }, 'test'), away, 'nothing else is changed meanwhile')
    await held.commit()
    await until('the outcome is known', () => devices.reconcile())
  }
  t.equal(devices.get('removed'), undefined)
  t.equal(devices.authenticate('rotated', password), undefined)
  t.notOk(devices.get('rotated')?.suspended)
})

t.test('the outcome of a removal that was not made is read automatically', async t => {
  const devices = await open(t)
  const [password = ''] = await add(devices, 'kept')
  const held = await holdCommits(t)
  t.strictSame(await devices.remove(devices.get('kept')?.number ?? 0, 'test'), unknown)
  t.ok(devices.get('kept')?.suspended)
  await held.fail()
  await until('the outcome is known', () => devices.get('kept')?.suspended === false)
  t.ok(devices.authenticate('kept', password))
})
