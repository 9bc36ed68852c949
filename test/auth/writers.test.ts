/** Which devices a credential may write, on a real PostgreSQL. */

import t from 'tap'
import type { Role } from '../../auth/accounts/role.ts'
import { NewDevice } from '../../auth/devices/device.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import type { Scope } from '../../auth/keys/key.ts'
import { composed } from '../../auth/plain-text.ts'
import {
  type CredentialWriter,
  createWriters,
  type Writer,
  writeRefusalReason,
  writeRefusals,
} from '../../auth/writers.ts'
import { startAccounts } from '../support/accounts.ts'
import { silentLog } from '../support/databases.ts'

const { accounts, keys, person, store } = await startAccounts(t)
const devices = await openDevices({ pool: store.postgres, now: Date.now, log: silentLog, graceMs: 3_600_000 })
t.teardown(() => devices.close())
const ownedMax = 5
const writers = createWriters(devices, { user: ownedMax, administrator: ownedMax + 2, operator: 0 })

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

async function keyOf(id: number, scopes: Scope[] = ['ingest'], createDevices = false, tags: string[] = []) {
  const owner = await accounts.find(id)
  if (owner === undefined) throw new Error('no such account')
  const made = await keys.create(owner, { name: 'test', scopes, createDevices, tags, expiresInDays: undefined })
  if (!made.ok) throw new Error(made.code)
  return await keys.find(made.value.text)
}

function known(writer: CredentialWriter | string | undefined): CredentialWriter {
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

t.test('a device whose password has ended writes nothing any more, one with an older password for a while', async t => {
  const first = await addDevice('cellar', { owner })
  const writer = known(writers.ofDevice('cellar', first))
  t.equal(await writer.renewed(), writer)
  const rotated = await devices.rotate('cellar', false, 'test')
  t.equal(found(writer, 'cellar'), 'found cellar', 'within the grace time')
  t.equal(await writer.renewed(), writer)
  const second = rotated.ok ? rotated.value.password : ''
  const newer = known(writers.ofDevice('cellar', second))
  await devices.rotate('cellar', true, 'test')
  for (const old of [writer, newer]) {
    t.equal(found(old, 'cellar'), 'DEVICE_UNKNOWN')
    t.equal(await old.renewed(), 'UNAUTHENTICATED')
  }
  const last = await devices.rotate('cellar', true, 'test')
  const current = known(writers.ofDevice('cellar', last.ok ? last.value.password : ''))
  await devices.change('cellar', { name: 'basement', location_short: 'below' }, 'test')
  t.equal(found(current, 'basement'), 'found basement')
  t.equal(await current.renewed(), current, 'a new name ends no credential')
  await devices.remove(current.device?.number ?? 0, 'test')
  t.equal(await current.renewed(), 'UNAUTHENTICATED')
})

t.test('a record is checked as its name is, and is known by its number until it changes', async t => {
  const password = await addDevice('shed', { owner })
  const shed = devices.get('shed')
  if (shed?.authSeq === undefined) throw new Error('no such device')
  const { number, authSeq } = shed
  const ofOwner = known(writers.ofPrincipal(await keyOf(owner)))
  const ofOther = known(writers.ofPrincipal(await keyOf(other)))
  const itself = known(writers.ofDevice('shed', password))
  const neighbour = known(writers.ofDevice('barn', await addDevice('barn', { owner })))
  const all = [ofOwner, ofOther, itself, neighbour]
  const checked = () => all.map(writer => writer.check(shed))
  t.strictSame(checked(), [shed, 'DEVICE_FORBIDDEN', shed, 'DEVICE_MISMATCH'])
  for (const writer of all) t.equal(writer.unchanged(number, authSeq), shed)
  await devices.change('shed', { name: 'hut' }, 'test')
  t.strictSame(checked(), [shed, 'DEVICE_FORBIDDEN', shed, 'DEVICE_MISMATCH'])
  for (const writer of all) t.equal(writer.unchanged(number, authSeq), undefined)
  await devices.change('hut', { log_switch: false }, 'test')
  t.strictSame(checked(), ['LOGGING_DISABLED', 'DEVICE_FORBIDDEN', 'LOGGING_DISABLED', 'DEVICE_MISMATCH'])
  await devices.remove(number, 'test')
  t.strictSame(checked(), ['DEVICE_UNKNOWN', 'DEVICE_UNKNOWN', 'DEVICE_UNKNOWN', 'DEVICE_MISMATCH'])
  t.equal(ofOwner.unchanged(number, shed.authSeq), undefined)
})

t.test('the writer of a key is renewed with what the key and its account are now', async t => {
  const id = await account('renewed@example.com', 'administrator')
  const owned = await accounts.find(id)
  const made =
    owned &&
    (await keys.create(owned, { name: 'test', scopes: ['ingest'], createDevices: false, expiresInDays: undefined }))
  if (made?.ok !== true) throw new Error('no key')
  const { id: keyId, text } = made.value
  const find = () => keys.find(text)
  const writer = known(writers.ofPrincipal(await find(), find))
  await addDevice('of nobody')
  t.equal(found(writer, 'of nobody'), 'found of nobody')
  await accounts.memory.change(id, () => store.postgres.query("UPDATE accounts SET role = 'user' WHERE id = $1", [id]))
  const renewed = known(await writer.renewed())
  t.equal(found(renewed, 'of nobody'), 'DEVICE_FORBIDDEN')
  t.equal(renewed.id, writer.id)
  await keys.revokeAny(keyId, 'test')
  t.equal(await renewed.renewed(), 'UNAUTHENTICATED')
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

t.test('a key that is limited to tags writes the devices of its owner that have all of them', async t => {
  const id = await account('tagged@example.com')
  await addDevice('both', { owner: id, tags: ['room:1', 'site:berlin'] })
  await addDevice('one', { owner: id, tags: ['site:berlin'] })
  await addDevice('foreign', { owner: await account('untagged@example.com'), tags: ['room:1', 'site:berlin'] })
  const tags = ['site:berlin', 'room:1']
  const writer = known(writers.ofPrincipal(await keyOf(id, ['ingest'], true, tags)))
  const all = ['both', 'one', 'foreign']
  const told = (of: Writer) => all.map(name => found(of, name))
  t.strictSame(told(writer), ['found both', 'DEVICE_FORBIDDEN', 'DEVICE_FORBIDDEN'])
  const every = known(writers.ofPrincipal(await keyOf(administrator, ['ingest'], false, tags)))
  t.strictSame(told(every), ['found both', 'DEVICE_FORBIDDEN', 'found foreign'])
  await devices.change('one', { tags: ['room:1', 'site:berlin'] }, 'test')
  await devices.change('both', { tags: [] }, 'test')
  t.strictSame(told(writer), ['DEVICE_FORBIDDEN', 'found one', 'DEVICE_FORBIDDEN'], 'as the devices are now')
  t.equal(await writer.createDevices(['made']), 'done')
  t.equal(found(writer, 'made'), 'found made')
  t.strictSame(devices.get('made')?.tags, ['site:berlin', 'room:1'].sort(), 'what it adds has its tags')
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
  for (const name of ['a:b', 'a+b', ' b', 'b  c', 'b\u00a0c']) t.equal(found(writer, name), 'NAME_INVALID', name)
  t.equal(
    writeRefusalReason('NAME_INVALID', 'b  c'),
    'no new device can have this name: it must not contain two spaces in a row',
  )
  t.equal(found(plain, ' b'), 'DEVICE_UNKNOWN', 'a key that adds none need not be told')
  t.equal(await writer.createDevices(['a', 'mine']), 'done')
  t.equal(devices.ownedBy(other), 1)
  await Promise.all([writer.createDevices(['b', 'c', 'd']), writer.createDevices(['e', 'f', 'g'])])
  t.equal(devices.ownedBy(other), 4, 'there is no room for both')
  t.equal(await writer.createDevices(['h', 'i', 'j']), 'done')
  t.strictSame([devices.ownedBy(other), devices.get('i')], [ownedMax, undefined])
  t.strictSame([found(writer, 'i'), found(plain, 'i')], ['TOO_MANY_DEVICES', 'DEVICE_UNKNOWN'])
  t.equal(await writer.createDevices(['i']), 'done')
  await devices.remove(devices.get('a')?.number ?? 0, 'test')
  await devices.change('h', { owner: null }, 'test')
  t.equal(devices.ownedBy(other), ownedMax - 2)
  const { rows } = await store.postgres.query("SELECT DISTINCT actor FROM audit WHERE subject IN ('device a', 'a')")
  t.match(rows[0]?.actor, /^key \d+ of account \d+$/)
})

t.test('an administrator has a bound of their own', async t => {
  const writer = known(writers.ofPrincipal(await keyOf(administrator, ['ingest'], true)))
  const names = Array.from({ length: ownedMax + 3 }, (_, at) => `of-administrator-${at}`)
  t.equal(await writer.createDevices(names), 'done')
  t.equal(devices.ownedBy(administrator), ownedMax + 2)
  t.equal(found(writer, names.at(-1) ?? ''), 'TOO_MANY_DEVICES')
})

t.test('a device with an older name goes on working', async t => {
  const names = [' lead2', 'a  b', 'b\u00a0c', 'c+d', 'e/f']
  const { rows } = await store.postgres.query<{ number: number }>(
    `INSERT INTO devices (name, slug, location_short, location_desc, log_switch, battery, owner, credential_current,
       created_at, auth_seq)
     SELECT name, 'device', '', '', true, false, $2, sha256('secret'), now(), nextval('auth_seq') FROM unnest($1::text[]) AS name
     RETURNING number`,
    [names, owner],
  )
  const reopened = await openDevices({ pool: store.postgres, now: Date.now, log: silentLog, graceMs: 3_600_000 })
  t.teardown(() => reopened.close())
  const own = createWriters(reopened, { user: 100, administrator: 100, operator: 100 })
  const byKey = known(own.ofPrincipal(await keyOf(owner, ['ingest'], true)))
  for (const name of names) {
    t.equal(found(known(own.ofDevice(name, 'secret')), name), `found ${name}`)
    t.equal(found(byKey, name), `found ${name}`)
    t.match(await reopened.change(name, { location_short: 'here' }, 'test'), { ok: true })
    t.match(await reopened.rotate(name, true, 'test'), { ok: true })
  }
  t.equal(rows.length, names.length)
})

t.test(
  'no long text of a stranger is composed, which may take time that grows with the square of its length',
  async t => {
    const password = await addDevice('yard')
    const writersOfTexts = [
      known(writers.ofDevice('yard', password)),
      known(writers.ofPrincipal(await keyOf(owner, ['ingest'], true))),
    ]
    const lengths: number[] = []
    const { normalize } = String.prototype
    t.teardown(() => {
      String.prototype.normalize = normalize
    })
    String.prototype.normalize = function (form) {
      lengths.push(this.length)
      return normalize.call(this, form)
    }
    const long = `a${'\u0301\u0316'.repeat(20_000)}`
    t.equal(writers.ofDevice(long, 'x'), undefined)
    for (const writer of writersOfTexts) {
      t.match(writer.find(long), /^(DEVICE_MISMATCH|NAME_INVALID)$/)
      t.equal(await writer.createDevices([long]), 'done')
    }
    t.match(writeRefusalReason('NAME_INVALID', long), /at most 64 characters/)
    t.notOk(lengths.some(length => length > 512))
    t.equal(composed(`${'e\u0301'.repeat(256)}`), 'é'.repeat(256))
  },
)
