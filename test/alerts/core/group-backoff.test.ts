import { test } from 'tap'
import { backoffEndMs } from '../../../alerts/core/group-backoff.ts'

/** Minutes, of an interval of five. */
const waitsUntil = (...minutes: number[]) =>
  backoffEndMs(
    minutes.map(minute => minute * 60_000),
    300_000,
  ) / 60_000
const never = Number.NEGATIVE_INFINITY

test('a group waits when it has told something new seven times in an hour, and until it was still', async t => {
  t.equal(waitsUntil(), never)
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25), never)
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30), 60)
  t.equal(waitsUntil(0, 10, 20, 30, 40, 50, 60), 90)
  t.equal(waitsUntil(0, 10, 20, 30, 40, 50, 61), never)
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30, 60, 90), 120, 'it goes on')
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30, 71), never, 'it was still')
  t.equal(waitsUntil(0, 5, 10, 15, 20, 25, 30, 71, 76, 81, 86, 91, 96, 101), 131, 'and begins anew')
})
