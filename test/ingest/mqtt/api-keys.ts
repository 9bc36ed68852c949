/** API keys at the MQTT listener, on a real PostgreSQL and with the real client. */

import t, { type Test } from 'tap'
import { changeProfile } from '../../../auth/accounts/profile.ts'
import { NewDevice } from '../../../auth/devices/device.ts'
import { openDevices } from '../../../auth/devices/devices.ts'
import type { Scope } from '../../../auth/keys/key.ts'
import { openVariant, perOwner } from '../../support/accounts.ts'
import { sharedPostgres, silentLog } from '../../support/databases.ts'
import { freeze } from '../../support/frozen.ts'
import { connectClient, eventOf, reading, startListener } from '../../support/mqtt.ts'
import { serverPid, until } from '../../support/processes.ts'

const { store, directory } = await sharedPostgres(t)
const devices = await openDevices({
  pool: store.postgres,
  now: Date.now,
  log: silentLog,
  graceMs: 3_600_000,
  // A transaction on a slow machine must fit.
  stepMs: 4000,
})
t.teardown(() => devices.close())
const people = await openVariant(t, store, { devices })
const owner = await people.person('owner@example.com')
const other = await people.person('other@example.com')
await devices.add(
  [NewDevice.parse({ name: 'kitchen', owner }), NewDevice.parse({ name: 'foreign', owner: other })],
  'test',
)

async function keyOf(id: number, { scopes = ['ingest'] as Scope[], createDevices = false } = {}) {
  const account = await people.accounts.find(id)
  if (account === undefined) throw new Error('no such account')
  const made = await people.keys.create(account, { name: 'test', scopes, createDevices, expiresInDays: undefined })
  if (!made.ok) throw new Error(made.code)
  return { ...made.value, account }
}

const start = (hooks: Test, bounds = perOwner) =>
  startListener(hooks, { registry: devices, keyRegistry: people.keys, perOwner: bounds })

t.test("a key writes its owner's devices while others are refused without details and counted", async t => {
  const { url, journal, rejections, closed } = await start(t)
  const { text } = await keyOf(owner)
  for (const credential of [
    { username: 'gateway', password: text },
    { username: text, password: '' },
  ]) {
    const client = await connectClient(t, url, credential)
    await client.publishAsync('readings/foreign', reading(1), { qos: 1 })
    await client.publishAsync('readings/new', reading(2), { qos: 1 })
    await client.publishAsync('readings/kitchen', reading(3), { qos: 1 })
    t.ok(client.connected)
    await client.endAsync()
  }
  t.strictSame(journal.stored, [3, 3])
  t.strictSame(rejections, ['mismatch', 'unknown_device', 'mismatch', 'unknown_device'])
  t.equal(devices.get('new'), undefined)
  t.strictSame(new Set(closed), new Set(['client']))
})

t.test('a key with the permission creates missing devices in the order of their readings', async t => {
  const { url, journal, rejections } = await start(t)
  const { text } = await keyOf(owner, { createDevices: true })
  const client = await connectClient(t, url, { password: text })
  const messages: [topic: string, payload: string][] = [
    ['readings/kitchen', reading(1)],
    ['readings/cellar', reading(2)],
    ['readings/cellar', reading(3)],
    ['readings/kitchen', reading(4)],
    ['readings/attic', reading(5)],
    ['readings/foreign', reading(6)],
    ['readings/garbage', 'no JSON'],
    ['readings/a:b', reading(7)],
    ['readings/wrong', '{"temperature":"warm"}'],
  ]
  await Promise.all(messages.map(([topic, payload]) => client.publishAsync(topic, payload, { qos: 1 })))
  t.strictSame(journal.stored, [1, 2, 3, 4, 5])
  t.strictSame([devices.get('cellar')?.owner, devices.get('attic')?.owner], [owner, owner])
  t.strictSame(rejections, ['mismatch', 'invalid', 'invalid_name', 'invalid'])
  for (const name of ['garbage', 'wrong']) t.equal(devices.get(name), undefined, name)
  await client.publishAsync('readings/loft', reading(8), { qos: 0 })
  await until('it is stored at QoS 0, too', () => journal.stored.includes(8))
})

t.test('a reading is not acknowledged until its device can be created', async t => {
  const { url, journal, rejections, closed } = await start(t)
  const { text } = await keyOf(owner, { createDevices: true })
  const options = { password: text, clean: false, clientId: 'again', reconnectPeriod: 50 }
  const client = await connectClient(t, url, options)
  const thaw = freeze(serverPid(directory, 'postgres'))
  t.teardown(thaw)
  const published = client.publishAsync('readings/shed', reading(1), { qos: 1 })
  await until('it was refused', () => rejections.includes('database_away'))
  t.strictSame(journal.stored, [])
  t.equal(closed[0], 'not_stored')
  thaw()
  await published
  t.strictSame(journal.stored, [1])
  t.equal(devices.get('shed')?.owner, owner)
})

t.test('no message is stored that comes after a key was revoked', async t => {
  const { url, closed, journal } = await start(t)
  for (let round = 0; round < 5; round++) {
    const { text, account, id } = await keyOf(owner)
    const client = await connectClient(t, url, { password: text })
    await client.publishAsync('readings/kitchen', reading(round), { qos: 1 })
    const ended = eventOf(client, 'close')
    await people.keys.revoke(account, id)
    client.publish('readings/kitchen', reading(20 + round), { qos: 0 })
    await ended
  }
  t.strictSame(journal.stored, [0, 1, 2, 3, 4])
  t.strictSame(new Set(closed), new Set(['revoked']))
})

t.test('a change of the account holds its messages until it is known that the key is good, in their order', async t => {
  const { url, closed, journal } = await start(t)
  const { text, account } = await keyOf(owner)
  const client = await connectClient(t, url, { password: text })
  const numbers = Array.from({ length: 40 }, (_, at) => at)
  const changes = [1, 2, 3].map(() => changeProfile(people.accounts, account, { name: 'Owner' }))
  await Promise.all(numbers.map(at => client.publishAsync('readings/kitchen', reading(at), { qos: 1 })))
  await Promise.all(changes)
  t.strictSame([journal.stored, closed], [numbers, []])
})
