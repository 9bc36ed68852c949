/** Due days, the time of their expiry, and work that excludes an expiry. */

import t from 'tap'
import { type DueDaysOptions, dueDays } from '../../../../service/lifecycle/retention/due-days.ts'
import {
  createClockHorizon,
  DelayedHorizon,
  dayMs,
  horizonMs,
  ObservedHorizon,
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

t.test('exclusive work is skipped beside other work, and shared work waits for it', async t => {
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

const none = { expireBeforeMs: never, waiting: undefined }
/** Days are counted from one that is the oldest. */
const at = (day: number) => Date.UTC(2026, 0, 10) + day * dayMs

function due(rawDays: number[], horizon: number, more: Partial<DueDaysOptions> = {}) {
  const horizonMs = at(horizon)
  return dueDays({
    rawDays: rawDays.map(day => ({ startMs: at(day), readings: 1 })),
    horizonMs,
    steadyMs: horizonMs,
    watchedFromMs: horizonMs,
    newestHorizonMs: horizonMs,
    confirmedMs: never,
    ...more,
  })
}

t.test('one day that is due goes, also at the start', async t => {
  t.strictSame(due([], 5), none)
  t.strictSame(due([0, 1, 2], 0), none)
  t.strictSame(due([0, 1, 2], 1), { ...none, expireBeforeMs: at(1) })
  t.strictSame(due([0, 1, 2], 1, { steadyMs: at(0) }), none, 'the margin is not over')
  t.strictSame(due([0, 1, 2], 1, { steadyMs: never }), none)
})

t.test('days that are due at once wait, also a single one that is due for longer', async t => {
  const wait = (beforeMs: number, days: number) => ({
    ...none,
    waiting: { fromMs: at(0), beforeMs, days, reason: 'several_days' },
  })
  t.strictSame(due([0, 1, 2], 2), wait(at(2), 2))
  t.strictSame(due([0, 3, 9], 9), wait(at(9), 2))
  t.strictSame(due([0], 365), wait(at(365), 1), 'an installation of one day, by a clock that is a year ahead')
  t.strictSame(due([0, 1, 2], 2, { steadyMs: never }), wait(at(2), 2), 'reported before the margin is over')
})

t.test('days that became due one by one go one by one', async t => {
  const watchedFromMs = at(1)
  t.strictSame(due([0, 1, 2], 3, { watchedFromMs }), { ...none, expireBeforeMs: at(1) })
  t.strictSame(due([1, 2], 3, { watchedFromMs }), { ...none, expireBeforeMs: at(2) })
  t.strictSame(due([0, 7], 5, { watchedFromMs }), { ...none, expireBeforeMs: at(1) }, 'a fleet that was silent')
})

t.test('nothing goes that the newest reading does not justify', async t => {
  const watchedFromMs = at(0)
  const newestHorizonMs = at(0)
  t.strictSame(due([0, 1], 1, { watchedFromMs, newestHorizonMs }), none, 'today the first reading may still come')
  t.strictSame(due([0, 1], 1, { watchedFromMs, newestHorizonMs: never }), none)
  const waiting = { fromMs: at(0), beforeMs: at(2), days: 2, reason: 'no_newer_readings' }
  t.strictSame(due([0, 1], 2, { watchedFromMs, newestHorizonMs }), { ...none, waiting })
})

t.test('a confirmed expiry runs at once if the clock still agrees', async t => {
  const more = { confirmedMs: at(4), newestHorizonMs: at(-3) }
  t.strictSame(due([0, 1, 2, 6], 5, more), { ...none, expireBeforeMs: at(4) })
  t.strictSame(due([0, 1, 2], 5, { ...more, steadyMs: at(2) }), { ...none, expireBeforeMs: at(2) })
  t.strictSame(due([0, 1, 2], 0, more), none, 'the clock was put right')
  t.strictSame(due([0, 1, 2], 2, more), { ...none, expireBeforeMs: at(2) }, 'by some days')
  t.match(due([4, 5, 6], 9, more), { waiting: { fromMs: at(4), beforeMs: at(9), days: 3 } }, 'the rest waits')
})

t.test('a clock is watched from the start and again from each step', async t => {
  const watched = new ObservedHorizon()
  // A year ahead, back, and two days at once.
  const days = [5, 5, 6, 7, 372, 373, 7, 9]
  t.strictSame(
    days.map(day => watched.from(at(day))),
    [5, 5, 5, 5, 372, 372, 7, 9].map(at),
  )
})
