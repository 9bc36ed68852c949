import { test } from 'tap'
import { backoffEndMs } from '../../../alerts/outbox/group-plan.ts'

/** Minutes, with an interval of five. */
const waitsUntil = (...minutes: number[]) =>
  backoffEndMs(
    minutes.map(minute => minute * 60_000),
    300_000,
  ) / 60_000
const never = Number.NEGATIVE_INFINITY

test('after seven notifications with news in an hour, a group waits until it was quiet', async t => {
  t.equal(waitsUntil(), never)
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25), never)
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30), 60)
  t.equal(waitsUntil(0, 10, 20, 30, 40, 50, 60), 90)
  t.equal(waitsUntil(0, 10, 20, 30, 40, 50, 61), never)
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30, 60, 90), 120, 'it goes on')
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30, 71), never, 'it was still')
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30, 71, 76, 81, 86, 91, 96, 101), 131, 'and begins again')
})
