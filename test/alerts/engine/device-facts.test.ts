import t from 'tap'
import { deviceFactsOf } from '../../../alerts/engine/rule-feed.ts'

const silence = { lateSeconds: 60, freshSeconds: 30, staleSeconds: 86_400, expectedMs: Number.NaN, isOff: false }

t.test('lateness is unknown while a reading is pending or after one from the future', async t => {
  const factsOf = (lastMs: number, queuedUs?: number) =>
    deviceFactsOf(7, { ...silence, lastMs }, { nowMs: 10_000, queuedUs })
  t.strictSame(factsOf(9000), { number: 7, seenUs: 9_000_000, lastMs: 9000, lateSeconds: 60, freshSeconds: 30 })
  t.match(factsOf(9000, 9_000_000), { seenUs: Number.NaN, lastMs: 9000 })
  t.match(factsOf(11_000), { seenUs: Number.NaN, lastMs: 10_000 }, 'our clock was set back')
})

t.test('a disabled device is not late', async t => {
  t.equal(
    deviceFactsOf(7, { ...silence, lastMs: 1, isOff: true }, { nowMs: 10_000 })?.lateSeconds,
    Number.POSITIVE_INFINITY,
  )
  t.equal(deviceFactsOf(7, undefined, { nowMs: 10_000 }), null)
})
