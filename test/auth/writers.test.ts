/** Which devices a credential may write, on a real PostgreSQL. */

import t from 'tap'
import type { Role } from '../../auth/accounts/account.ts'
import { NewDevice } from '../../auth/devices/device.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import type { Scope } from '../../auth/keys/key.ts'
import { createWriters, type Writer, writeRefusals } from '../../auth/writers.ts'
import { startAccounts } from '../support/accounts.ts'
import { silentLog } from '../support/databases.ts'

const { accounts, keys, person, store } = await startAccounts(t)
const devices = await openDevices({ pool: store.postgres, now: Date.now, log: silentLog, graceMs: 3_600_000 })
t.teardown(() => devices.close())
const ownedMax = 5
const writers = createWriters(devices, ownedMax)

async function addDevice(name: string, fields: object = {}): Promise<string> {
  const added = await devices.add([NewDevice.parse({ name, ...fields })], 'test')
  if (!added.ok) throw new Error(added.code)
  return added.value[0]?.password ?? ''
}

async function account(email: string, role: Role = 'user'): Promise<number> {
  const id = await person(email)
  await accounts.memory.change(id, () =>
    store.postgres.query('UPDATE accounts SET role = $2 WHERE id = $1', [id, role]),
  )
  return id
}

async function keyOf(id: number, scopes: Scope[] = ['ingest'], createDevices = false) {
  const owner = await accounts.find(id)
  if (owner === undefined) throw new Error('no such account')
  const made = await keys.create(owner, { name: 'test', scopes, createDevices, expiresInDays: undefined })
  if (!made.ok) throw new Error(made.code)
  return await keys.find(made.value.text)
}

function known(writer: Writer | string | undefined): Writer {
  if (writer === undefined || typeof writer === 'string') throw new Error(`no writer: ${writer}`)
  return writer
}

/** The name of what is found, or why nothing is. */
function found(writer: Writer, name: string): string {
  const device = writer.find(name)
  return typeof device === 'string' ? writeRefusals[device] && device : `found ${device.name}`
}

const owner = await account('owner@example.com')
const other = await account('other@example.com')
const administrator = await account('administrator@example.com', 'administrator')

t.test('a device writes itself, as long as it may log', async t => {
  const password = await addDevice('Küche', { owner })
  await addDevice('attic', { owner })
  t.equal(writers.ofDevice('Küche', 'wrong'), undefined)
  t.equal(writers.ofDevice('nobody', password), undefined)
  const writer = known(writers.ofDevice('Küche', password))
  t.equal(writer.device, devices.get('Küche'))
  t.equal(found(writer, 'Küche'.normalize('NFD')), 'found Küche')
  t.equal(found(writer, 'attic'), 'DEVICE_MISMATCH')
  t.equal(found(writer, 'nobody'), 'DEVICE_MISMATCH')
  t.equal(await writer.createDevices(['new']), 'done')
  t.equal(devices.get('new'), undefined)
  await devices.change('Küche', { log_switch: false }, 'test')
  t.equal(found(writer, 'Küche'), 'LOGGING_DISABLED')
  await devices.change('Küche', { log_switch: true, name: 'kitchen' }, 'test')
  t.equal(found(writer, 'kitchen'), 'found kitchen', 'a new name counts at once')
  t.equal(found(writer, 'Küche'), 'DEVICE_MISMATCH')
  await devices.remove(writer.device?.number ?? 0, 'test')
  t.equal(found(writer, 'kitchen'), 'DEVICE_UNKNOWN')
  await addDevice('kitchen', { owner })
  t.equal(found(writer, 'kitchen'), 'DEVICE_UNKNOWN', 'a new device of the same name is another one')
})

t.test('a key needs the scope, and writes the devices of its owner; of an administrator all', async t => {
  await addDevice('mine', { owner })
  await addDevice('nobodys')
  const key = await keyOf(owner)
  const writer = known(writers.ofPrincipal(key))
  t.equal(writer.device, undefined)
  const all = ['mine', 'nobodys', 'nothing']
  t.strictSame(
    all.map(name => found(writer, name)),
    ['found mine', 'DEVICE_FORBIDDEN', 'DEVICE_UNKNOWN'],
  )
  const foreign = known(writers.ofPrincipal(await keyOf(other)))
  t.strictSame(
    all.map(name => found(foreign, name)),
    ['DEVICE_FORBIDDEN', 'DEVICE_FORBIDDEN', 'DEVICE_UNKNOWN'],
  )
  const every = known(writers.ofPrincipal(await keyOf(administrator)))
  t.strictSame(
    all.map(name => found(every, name)),
    ['found mine', 'found nobodys', 'DEVICE_UNKNOWN'],
  )
  await devices.change('mine', { log_switch: false }, 'test')
  t.equal(found(writer, 'mine'), 'LOGGING_DISABLED')
  t.equal(writers.ofPrincipal(await keyOf(owner, ['read', 'stations'])), 'FORBIDDEN')
  t.equal(writers.ofPrincipal(await keyOf(administrator, ['read', 'admin'])), 'FORBIDDEN')
  t.equal(writers.ofPrincipal(undefined), 'UNAUTHENTICATED')
  for (const kind of ['admin-token', 'service'] as const) t.equal(writers.ofPrincipal({ kind }), 'UNAUTHENTICATED')
})

t.test('a key that may adds devices, up to a number of them', async t => {
  const plain = known(writers.ofPrincipal(await keyOf(other)))
  t.equal(await plain.createDevices(['a']), 'done')
  t.equal(devices.get('a'), undefined)
  const writer = known(writers.ofPrincipal(await keyOf(other, ['ingest'], true)))
  t.equal(writer.mayCreateDevices, true)
  t.equal(await writer.createDevices(['a', 'a', 'mine', 'a:b', '..', '\u200b']), 'done')
  t.strictSame([devices.ownedBy(other), devices.get('a')?.owner, devices.get('mine')?.owner], [1, other, owner])
  t.equal(found(writer, 'a'), 'found a')
  t.equal(await writer.createDevices(['a', 'mine']), 'done')
  t.equal(devices.ownedBy(other), 1)
  await Promise.all([writer.createDevices(['b', 'c', 'd']), writer.createDevices(['e', 'f', 'g'])])
  t.equal(devices.ownedBy(other), 4, 'there is no room for both')
  t.equal(await writer.createDevices(['h', 'i', 'j']), 'done')
  t.strictSame([devices.ownedBy(other), devices.get('i')], [ownedMax, undefined])
  t.equal(await writer.createDevices(['i']), 'done')
  await devices.remove(devices.get('a')?.number ?? 0, 'test')
  await devices.change('h', { owner: null }, 'test')
  t.equal(devices.ownedBy(other), ownedMax - 2)
  const { rows } = await store.postgres.query("SELECT DISTINCT actor FROM audit WHERE subject IN ('device a', 'a')")
  t.match(rows[0]?.actor, /^key \d+ of account \d+$/)
})
