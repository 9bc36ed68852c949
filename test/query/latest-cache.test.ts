/** How bodies of the latest readings are cached, counted by the statements that reach QuestDB. */

import t from 'tap'
import type { Answer } from '../../query/cache/body.ts'
import { openGate } from '../support/pg-gate.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'
import { bodyIn, jsonIn, makeDevice, queryAt, stays } from './query-at.ts'

const questdb = await startQuestdb(t)
const { pg } = questdb.address
/** One counts the points, the other fetches them. */
const statementsPerBuild = 2

function now(answer: Answer | Promise<Answer>): Answer {
  if (answer instanceof Promise) throw new Error('the answer was not at hand')
  return answer
}

t.test('a body is built once for all who ask at the same time', async t => {
  const gate = await openGate(t, pg)
  const device = makeDevice('crowd')
  const query = queryAt(t, gate.address, '2025-05-01T12:00:00Z')
  const answers = await Promise.all(Array.from({ length: 20 }, () => query.latestAll(24, () => [device])))
  t.equal(new Set(answers.map(bodyIn)).size, 1)
  t.equal(gate.statements(), statementsPerBuild)
})

t.test('a body is built at most once a minute for each number of hours', async t => {
  const gate = await openGate(t, pg)
  const device = makeDevice('minute')
  const query = queryAt(t, gate.address, '2025-05-02T12:00:00Z')
  const first = await query.latestAll(24, () => [device])
  t.match(first, { maxAgeSeconds: 60 })
  query.clock.advance(59_500)
  const last = now(query.latestAll(24, () => [device]))
  t.equal(bodyIn(last), bodyIn(first))
  t.match(last, { maxAgeSeconds: 0 }, 'clients may keep it for whole seconds that are left')
  t.equal(gate.statements(), statementsPerBuild)
  await query.latestAll(23, () => [device])
  await query.latestOf(24, [device], stays())
  t.equal(gate.statements(), 3 * statementsPerBuild, 'other hours and other devices are bodies of their own')
})

t.test('a body is that of its devices, however many they are', async t => {
  const gate = await openGate(t, pg)
  const query = queryAt(t, gate.address, '2025-05-02T18:00:00Z')
  const devices = Array.from({ length: 510 }, (_, index) => makeDevice(`many-${index}`))
  const time = '2025-05-02T17:00:00.000000Z'
  await questdb.write(devices.map(({ symbol }, index) => ({ symbol, time, temperature: index, humidity: 1 })))
  const listed = async (of: readonly (typeof devices)[number][]) => {
    const { data } = jsonIn(await query.latestOf(2, of, stays())) as {
      data: { device: string; temperature: object[] }[]
    }
    return data.map(({ device, temperature }) => [device, temperature.length])
  }
  const expected = (of: typeof devices) => of.map(({ name }) => [name, 1])
  const [all, few] = [devices.slice(0, 505), devices.slice(3, 5)]
  t.strictSame(await listed(all), expected(all), 'more than can be named one by one')
  t.strictSame(await listed(few), expected(few))
  t.strictSame(await listed([]), [])
  const { length: statements } = Array.from({ length: gate.statements() })
  t.strictSame([await listed([...all]), await listed([...few])], [expected(all), expected(few)])
  t.equal(gate.statements(), statements, 'from the cache')
})

t.test('the old body is served while the next one is built, and only one is built', async t => {
  const gate = await openGate(t, pg)
  const device = makeDevice('stale')
  const query = queryAt(t, gate.address, '2025-05-03T12:00:00Z')
  const ask = () => query.latestAll(24, () => [device])
  const old = bodyIn(await ask())
  await questdb.write([{ symbol: device.symbol, time: '2025-05-03T12:00:30.000000Z', temperature: 1, humidity: 2 }])
  query.clock.advance(60_000)
  gate.hold()
  for (let i = 0; i < 5; i++) t.match(now(ask()), { body: old, maxAgeSeconds: 0 })
  await until('the next body is asked for', () => gate.statements() > statementsPerBuild)
  t.equal(bodyIn(now(ask())), old)
  gate.release()
  await until('the next body is there', () => bodyIn(now(ask())) !== old)
  t.equal(gate.statements(), 2 * statementsPerBuild)
  t.strictSame(jsonIn(now(ask())), {
    cached_at: '2025-05-03 14:01',
    data: [
      {
        device: 'stale',
        device_loc: '',
        humidity: [{ d: '2025-05-03 14:00', v: 2 }],
        temperature: [{ d: '2025-05-03 14:00', v: 1 }],
      },
    ],
  })
})

t.test('a body that is much too old is not served while QuestDB answers', async t => {
  const device = makeDevice('overnight')
  const query = queryAt(t, pg, '2025-05-04T00:00:00Z')
  const old = bodyIn(await query.latestAll(24, () => [device]))
  query.clock.advance(10 * 60_000)
  const next = query.latestAll(24, () => [device])
  t.type(next, Promise)
  t.not(bodyIn(await next), old)
})

t.test('when the clock is set back, the body is built anew', async t => {
  const device = makeDevice('back')
  const query = queryAt(t, pg, '2025-05-05T12:00:00Z')
  await query.latestAll(1, () => [device])
  query.clock.advance(-3_600_000)
  t.match(jsonIn(await query.latestAll(1, () => [device])), { cached_at: '2025-05-05 13:00' })
})

t.test('a change of the devices shows in the next body', async t => {
  const one = makeDevice('one')
  const two = makeDevice('two')
  const query = queryAt(t, pg, '2025-05-06T12:00:00Z')
  await query.latestAll(1, () => [one])
  query.clock.advance(10 * 60_000)
  t.match(jsonIn(await query.latestAll(1, () => [one, two])), { data: [{ device: 'one' }, { device: 'two' }] })
})

t.test('bodies beyond the memory for them are built again', async t => {
  const gate = await openGate(t, pg)
  const device = makeDevice('memory')
  const time = (i: number) => new Date(Date.parse('2025-05-07T00:00:00Z') + i * 60_000).toISOString()
  await questdb.write(Array.from({ length: 700 }, (_, i) => ({ symbol: device.symbol, time: time(i), temperature: i })))
  const query = queryAt(t, gate.address, '2025-05-07T12:00:00Z', { limits: { cacheBytesMax: 60_000 } })
  const ask = (hours: number) => query.latestAll(hours, () => [device])
  const first = bodyIn(await ask(20))
  t.ok(first.bytes.length > 20_000 && first.bytes.length < 30_000)
  await ask(21)
  t.equal(bodyIn(await ask(20)), first, 'two fit')
  await ask(22)
  t.equal(bodyIn(await ask(20)), first, 'the one that was asked for last stays')
  t.equal(gate.statements(), 3 * statementsPerBuild)
  await ask(21)
  t.equal(gate.statements(), 4 * statementsPerBuild)
})

t.test('no answer that was built with a device that is removed is served', async t => {
  const [stays, removed] = [makeDevice('stays'), makeDevice('removed')]
  const query = queryAt(t, pg, '2025-05-07T12:00:00Z')
  let devices = [stays, removed]
  const ask = (hours: number) => query.latestAll(hours, () => devices)
  const names = (answer: Answer) => (jsonIn(answer) as { data: { device: string }[] }).data.map(({ device }) => device)
  t.strictSame(
    names(await ask(1)),
    devices.map(({ name }) => name),
  )
  const building = ask(2)
  devices = [stays]
  query.deviceRemoved()
  t.strictSame(names(await ask(1)), [stays.name], 'cached')
  await building
  t.strictSame(names(await ask(2)), [stays.name], 'built meanwhile')
})
