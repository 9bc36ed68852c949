import fc from 'fast-check'
import { test } from 'tap'
import { createFairShare } from '../../../ingest/intake/fair-share.ts'

test('a body costs its readings, or its bytes where they are more', async t => {
  const share = createFairShare({ perSecond: 1, burst: 100 }, () => 0)
  share.charge('a', 50, 50 * 256)
  t.equal(share.waitSeconds('a'), undefined)
  share.charge('a', 0, 60 * 256)
  t.equal(share.waitSeconds('a'), 11)
})

test('in the long run nobody takes more than the rate, the burst and one body', async t => {
  const steps = fc.array(fc.record({ passMs: fc.nat(5000), readings: fc.integer({ min: 1, max: 500 }) }), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(steps, given => {
      let nowMs = 0
      const share = createFairShare({ perSecond: 10, burst: 100 }, () => nowMs)
      let taken = 0
      for (const { passMs, readings } of given) {
        nowMs += passMs
        if (share.waitSeconds('a') !== undefined) continue
        share.charge('a', readings)
        taken += readings
        t.ok(taken - readings < 100 + (nowMs / 1000) * 10 + 1e-6)
      }
    }),
  )
})

test('who waits as long as was told may send, and those that owe nothing are forgotten', async t => {
  let nowMs = 0
  const share = createFairShare({ perSecond: 7, burst: 10 }, () => nowMs)
  share.charge('debtor', 1000)
  for (let writer = 0; writer < 10_000; writer++) share.charge(`writer ${writer}`, 1)
  nowMs += 1000
  for (let writer = 0; writer < 10_000; writer++) share.charge(`writer ${writer}`, 1)
  const waitSeconds = share.waitSeconds('debtor') ?? 0
  t.ok(waitSeconds > 100)
  nowMs += waitSeconds * 1000
  t.equal(share.waitSeconds('debtor'), undefined)
})
