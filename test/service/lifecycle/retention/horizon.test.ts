/** Which days have expired, by a clock that may be wrong for a while; and the lock beside which they expire. */

import t from 'tap'
import {
  createClockHorizon,
  DelayedHorizon,
  dayMs,
  horizonMs,
} from '../../../../service/lifecycle/retention/horizon.ts'
import { createSharedLock } from '../../../../service/lifecycle/retention/shared-lock.ts'

const never = Number.NEGATIVE_INFINITY
const minuteMs = 60_000

t.test('days are whole ones of UTC', async t => {
  const day = Date.UTC(2026, 2, 10)
  t.equal(horizonMs(day, 1), day - dayMs)
  t.equal(horizonMs(day + dayMs - 1, 1), day - dayMs)
  t.equal(horizonMs(day + dayMs, 1), day)
})

t.test('a horizon counts when it has stood for the margin', async t => {
  const steady = new DelayedHorizon(60 * minuteMs)
  t.equal(steady.at(5 * dayMs, 0), never)
  t.equal(steady.at(5 * dayMs, 60 * minuteMs - 1), never)
  t.equal(steady.at(5 * dayMs, 60 * minuteMs), 5 * dayMs)
  t.equal(steady.at(6 * dayMs, 100 * minuteMs), 5 * dayMs, 'the next day begins')
  t.equal(steady.at(6 * dayMs, 159 * minuteMs), 5 * dayMs)
  t.equal(steady.at(6 * dayMs, 160 * minuteMs), 6 * dayMs)
})

t.test('a clock that is wrong for less than the margin makes nothing expire', async t => {
  const steady = new DelayedHorizon(60 * minuteMs)
  t.equal(steady.at(500 * dayMs, 0), never, 'it is wrong from the start')
  t.equal(steady.at(5 * dayMs, 59 * minuteMs), never)
  t.equal(steady.at(5 * dayMs, 118 * minuteMs), never)
  t.equal(steady.at(5 * dayMs, 119 * minuteMs), 5 * dayMs)
  t.equal(steady.at(400 * dayMs, 120 * minuteMs), 5 * dayMs)
  t.equal(steady.at(400 * dayMs, 179 * minuteMs), 5 * dayMs)
  t.equal(steady.at(5 * dayMs, 180 * minuteMs - 1), 5 * dayMs)
  t.equal(steady.at(5 * dayMs, 300 * minuteMs), 5 * dayMs)
  t.equal(steady.at(4 * dayMs, 301 * minuteMs), never, 'nothing that the clock calls too young')
})

t.test('the margin passes by the monotonic clock, whatever step the other one makes', async t => {
  const day = Date.UTC(2026, 2, 10)
  const clock = { nowMs: day + 5 * minuteMs, monotonicMs: 0 }
  const read = createClockHorizon({
    days: 1,
    nowMs: () => clock.nowMs,
    monotonicMs: () => clock.monotonicMs,
    marginMs: 60 * minuteMs,
  })
  t.match(read(), { horizonMs: day - dayMs, steadyMs: never })
  Object.assign(clock, { nowMs: day + 1 * minuteMs, monotonicMs: 30 * minuteMs })
  t.match(read(), { horizonMs: day - dayMs, steadyMs: never })
  Object.assign(clock, { nowMs: day + 2 * minuteMs, monotonicMs: 60 * minuteMs })
  t.match(read(), { horizonMs: day - dayMs, steadyMs: day - dayMs })
})

t.test('exclusive work is left out beside other work, and shared work waits for it', async t => {
  const lock = createSharedLock()
  const order: string[] = []
  const first = Promise.withResolvers<void>()
  const shared = [1, 2].map(number =>
    lock.shared(async () => {
      order.push(`begin ${number}`)
      await first.promise
      return number
    }),
  )
  await Promise.resolve()
  t.equal(await lock.tryExclusive(async () => void order.push('never')), false)
  first.resolve()
  t.strictSame(await Promise.all(shared), [1, 2])
  const second = Promise.withResolvers<void>()
  const exclusive = lock.tryExclusive(() => second.promise)
  const third = Promise.withResolvers<void>()
  const later = lock.shared(async () => {
    order.push('later')
    await third.promise
  })
  t.equal(await lock.tryExclusive(async () => void order.push('never')), false)
  order.push('end of exclusive')
  second.resolve()
  t.equal(await exclusive, true)
  third.resolve()
  await later
  t.strictSame(order, ['begin 1', 'begin 2', 'end of exclusive', 'later'])
  await t.rejects(
    lock.tryExclusive(() => Promise.reject(new Error('broken'))),
    /broken/,
  )
  t.equal(await lock.tryExclusive(async () => undefined), true, 'a failure does not hold it')
  await t.rejects(
    lock.shared(() => Promise.reject(new Error('broken'))),
    /broken/,
  )
  t.equal(await lock.tryExclusive(async () => undefined), true)
})
