/** The list of unknown devices: its order, its bounds, and untrusted names and fields. */

import t from 'tap'
import { UnknownDevices, unknownDevicesMax } from '../../ingest/rejections/unknown-devices.ts'

const unregistered = () => false
const from = (sender: string, device: string) =>
  ({ way: 'webhook', device, sender: { name: sender, isKnown: true } }) as const
const reading = (fields: Record<string, unknown> = { temperature: 1 }, owner: number | null = null) => ({
  family: 'thingsboard',
  owner,
  fields,
})
const namesIn = (list: UnknownDevices) => list.list(unregistered).map(({ name }) => name)

t.test('messages are counted by device, the latest first and without registered ones', async t => {
  const list = new UnknownDevices()
  const decomposed = 'Ku\u0308che'
  list.add(
    from('key 1', decomposed),
    reading({ device: decomposed, timestamp: 1, temp: 1, 'battery voltage': 3 }, 7),
    10,
  )
  list.add(from('broker', 'well'), reading(), 20)
  list.add(from('key 1', 'Küche'), reading({ co2: 1, temperature: 2 }, 7), 30)
  const kitchen = {
    name: 'Küche',
    way: 'webhook',
    sender: 'key 1',
    owner: 7,
    family: 'thingsboard',
    metrics: ['temperature', 'battery_voltage', 'co2'],
    messages: 2,
    firstMs: 10,
    latestMs: 30,
  }
  t.strictSame(list.list(unregistered)[0], kitchen)
  t.strictSame(namesIn(list), ['Küche', 'well'])
  list.list(name => name === 'Küche')
  t.strictSame(namesIn(list), ['well'])
  list.add(from('key 2', 'well'), reading({}, 8), 40)
  t.strictSame(
    list.list(unregistered).map(({ sender, owner, messages }) => [sender, owner, messages]),
    [
      ['key 2', 8, 1],
      ['broker', null, 1],
    ],
    'a sender does not change the entry of another one',
  )
  list.forget('well')
  t.strictSame(namesIn(list), [])
})

t.test('the least recently seen device leaves first: of a sender with its share, else of all', async t => {
  const list = new UnknownDevices(5, 3)
  const add = (sender: string, ...names: string[]) => {
    for (const name of names) list.add(from(sender, name), reading(), 0)
  }
  add('key 1', 'a')
  add('key 2', 'b', 'c', 'd', 'b', 'e')
  t.strictSame(namesIn(list), ['e', 'b', 'd', 'a'], 'its own, though another one is older')
  add('key 3', 'f', 'g')
  t.strictSame(namesIn(list), ['g', 'f', 'e', 'b', 'd'])
})

t.test('invalid device names are left out and metrics limited', async t => {
  const list = new UnknownDevices()
  for (const name of ['', 'x'.repeat(65), 'ü'.repeat(100_000), 'a/b', 'a\nb', '\u202eb', '\ud800', '..']) {
    list.add(from('broker', name), reading(), 0)
  }
  t.strictSame(namesIn(list), [])
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`metric_${at}`, at]))
  list.add(from('broker', 'x'.repeat(64)), reading({ ['y'.repeat(1000)]: 1, ...many }), 0)
  list.add(from('broker', 'x'.repeat(64)), reading({ another: 1 }), 0)
  const [{ metrics } = { metrics: [] }] = list.list(unregistered)
  t.strictSame(
    metrics,
    Array.from({ length: 16 }, (_, at) => `metric_${at}`),
  )
  for (let sender = 0; sender < 10; sender++) {
    for (let at = 0; at < 200; at++) list.add(from(`key ${sender}`, `device-${at}`), reading(), 0)
  }
  t.equal(list.list(unregistered).length, unknownDevicesMax)
})
