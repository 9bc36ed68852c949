/** Days that expire in two shards, one of which is away for a while. */

import t from 'tap'
import { openAcceptedFrom } from '../../../lifecycle/retention/accepted-from.ts'
import { listRawDays } from '../../../lifecycle/retention/expired-days.ts'
import { dayMs } from '../../../lifecycle/retention/horizon.ts'
import { openRetention } from '../../../lifecycle/retention/retention.ts'
import { recordingLog } from '../../support/databases.ts'
import { until } from '../../support/processes.ts'
import { startTwoShards } from './two-shards.ts'

const { store, gated, shards, addDevice, send } = await startTwoShards()
const [porch, roof] = [await addDevice('porch'), await addDevice('roof')]
const days = 3
const today = Math.floor(Date.now() / dayMs) * dayMs
const beforeMs = today - days * dayMs
const agesMs = (...ages: number[]) => ages.map(age => today - age * dayMs + dayMs / 2)
await send(1, porch, agesMs(1, 2, 4, 5, 6))
// Without a reading on the last day that expires, nor for a while.
await send(2, roof, agesMs(2, 5, 6, 7))

const { log, texts } = recordingLog('info')
const acceptedFrom = await openAcceptedFrom({ pool: store.postgres, days, nowMs: Date.now })
const open = (nowMs = Date.now) => {
  const timing = { checkEveryMs: 20, marginMs: 0, graceMs: 0 }
  const retention = openRetention({ days, acceptedFrom, shards, nowMs, timing, log })
  t.teardown(() => retention.close())
  return retention
}
const oldestMs = async (shard: 1 | 2) =>
  (await listRawDays((shards[shard - 1] as (typeof shards)[number]).exec))[0]?.startMs
const start = (age: number) => today - age * dayMs

t.test('the days of all shards wait for one person', async t => {
  const retention = open()
  await until('they wait', () => retention.state().waiting?.days === 4)
  t.strictSame(retention.state().waiting, { fromMs: start(7), beforeMs, days: 4, reason: 'several_days' })
  t.equal(retention.state().oldestDayMs, start(7))
  t.equal(retention.state().fault, undefined)
  t.ok(retention.isKnown())
  await retention.close()
})

t.test('a shard that is away delays what it has itself, and is named', async t => {
  const retention = open()
  await until('they wait', () => retention.state().waiting !== undefined)
  await gated.shut()
  t.ok(await retention.confirm(beforeMs))
  await until('they are gone', async () => (await oldestMs(1)) === start(2))
  await until('it is named', () => retention.state().fault === 'shard 2: QuestDB is unavailable')
  await until('one is counted, of which the other has no readings', () => retention.state().expiredDays > 0)
  t.equal(retention.expiredBeforeUs(1), beforeMs * 1000)
  t.equal(retention.expiredBeforeUs(2), Number.NEGATIVE_INFINITY)
  t.equal(retention.expiredBeforeUs(), beforeMs * 1000)
  t.equal(retention.state().expiredDays, 1)
  t.equal(retention.state().oldestDayMs, start(7))

  const other = open()
  await until('one of them is known', () => other.isKnown(1))
  t.notOk(other.isKnown(2))
  t.notOk(other.isKnown())
  await other.close()

  await gated.open()
  await until('it follows', async () => (await oldestMs(2)) === start(2))
  await until('nothing is wrong', () => retention.state().fault === undefined)
  await until('all are counted', () => retention.state().expiredDays === 4)
  t.equal(texts.filter(text => text.startsWith('raw readings of a day expired')).length, 4)
  t.equal(retention.state().oldestDayMs, start(2))
  t.equal(retention.expiredBeforeUs(2), beforeMs * 1000, 'also behind a day without readings')
  t.throws(() => retention.expiredBeforeUs(3), /no shard 3/)
  await retention.close()
})

t.test('a shard that was away goes by what has expired elsewhere, of which it has no readings', async t => {
  await send(1, porch, agesMs(3))
  await gated.shut()
  await acceptedFrom.raise(start(2))
  const retention = open(() => Date.now() + dayMs)
  await until('it has expired', () => retention.expiredBeforeUs(1) === start(2) * 1000)
  await until('it is removed', async () => (await oldestMs(1)) === start(2))
  t.not(retention.expiredBeforeUs(2), start(2) * 1000)
  await gated.open()
  await until('it has expired there too', () => retention.expiredBeforeUs(2) === start(2) * 1000)
  t.equal(await oldestMs(2), start(2))
  await retention.close()
})

t.test('work during which no day expires holds in every shard', async t => {
  const retention = open()
  await retention.whileNoDayExpires(async () => {
    await send(1, porch, agesMs(8))
    await send(2, roof, agesMs(8))
    const { lastRunMs = 0 } = retention.state()
    await until('it has run', () => (retention.state().lastRunMs ?? 0) > lastRunMs + 100)
    t.strictSame([await oldestMs(1), await oldestMs(2)], [start(8), start(8)])
  })
  for (const shard of [1, 2] as const) await until('it is gone', async () => (await oldestMs(shard)) !== start(8))
})
