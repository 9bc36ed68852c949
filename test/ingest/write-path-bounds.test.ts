/** Bounds of the write path: deadlines, ages of segments, the pace of bulk data, shares of senders and sizes of requests. */

import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t, { test } from 'tap'
import { RequestSize } from '../../ingest/forwarder/delivery.ts'
import { AppliedTimes } from '../../ingest/forwarder/segment-retention.ts'
import { createFairShare } from '../../ingest/intake/rates.ts'
import { BulkPace } from '../../ingest/journal/bulk-pace.ts'
import { openDisk } from '../../ingest/journal/disk.ts'
import { AppendDeadline } from '../../ingest/kafka/produce/deadline.ts'
import { temporaryFolder } from '../support/databases.ts'

test('a deadline is over by whichever clock comes first', async t => {
  let wallMs = 1_000_000
  const deadline = new AppendDeadline(undefined, () => wallMs)
  t.equal(deadline.isOver(), true, 'before one was set')
  const begin = (leftMs: number) => deadline.begin(() => leftMs)
  t.ok(begin(60_000))
  const inThread = new AppendDeadline(deadline.shared, () => wallMs)
  t.equal(inThread.isOver(), false)
  wallMs += 60_000
  t.equal(inThread.isOver(), true, 'a machine that was suspended')
  t.ok(begin(1))
  await sleep(5)
  t.equal(inThread.isOver(), true, 'a process that was frozen')
  t.ok(begin(Number.POSITIVE_INFINITY))
  t.equal(inThread.isOver(), false)
  for (const leftMs of [0, -1, Number.NEGATIVE_INFINITY]) {
    t.notOk(begin(leftMs))
    t.equal(inThread.isOver(), true)
  }
})

test('a segment ages only while a process runs and never below zero', async t => {
  const disk = openDisk(temporaryFolder(t))
  const open = (nowMs: number) => new AppliedTimes({ disk, monotonicMs: () => nowMs })
  let nowMs = 1_000_000
  const before = new AppliedTimes({ disk, monotonicMs: () => nowMs })
  before.note(0, 0)
  before.save()
  nowMs += 60_000
  before.save()
  nowMs += 59_000
  before.save()
  t.equal(before.ageMs(0), 119_000)
  t.equal(open(400_000).ageMs(0), 60_000, 'as it was last written')
  const resent = open(9_000_000)
  resent.note(0, 10)
  t.equal(resent.ageMs(0), 10)
  disk.replace('applied-ages', Buffer.from('[[0,-5]]'))
  t.equal(open(9_000_000).ageMs(0), 0)
})

const groupBytes = 700_000

/** Bytes of bulk data for each millisecond of `forMs`, beside single readings each 2 ms that wait for `waitMs` of it. */
function rateBeside(pace: BulkPace, waitMs: ((nowMs: number) => number) | undefined, fromMs: number, forMs: number) {
  let bytes = 0
  for (let nowMs = fromMs; nowMs < fromMs + forMs; nowMs += 2) {
    if (waitMs !== undefined) pace.waited(waitMs(nowMs), nowMs)
    if (pace.delayMs(nowMs) > 0) continue
    pace.appended(groupBytes, nowMs)
    bytes += groupBytes
  }
  return bytes / forMs
}

const unlimited = groupBytes / 2

t.test('the rate is unlimited without single readings', async t => {
  t.equal(rateBeside(new BulkPace(), undefined, 0, 1000), unlimited)
})

t.test('the rate grows while single readings wait briefly and stays above its minimum', async t => {
  const pace = new BulkPace()
  const first = rateBeside(pace, () => 0.5, 0, 2000)
  const second = rateBeside(pace, () => 0.5, 2000, 2000)
  t.ok(first >= 4000 && second > 2 * first, `${first}, ${second}`)
  const long = rateBeside(pace, nowMs => (nowMs % 100 === 0 ? 30 : 0.5), 4000, 20_000)
  t.ok(long < second / 2, `${long}`)
  const longer = rateBeside(pace, nowMs => (nowMs % 100 === 0 ? 30 : 0.5), 24_000, 20_000)
  t.ok(longer > 1900 && longer < 3500, `${longer}`)
})

t.test('a disk where each sync takes long does not slow it down', async t => {
  const pace = new BulkPace()
  rateBeside(pace, () => 30, 0, 2000)
  const rate = rateBeside(pace, () => 30, 2000, 5000)
  t.ok(rate > 8000, `${rate}`)
})

t.test('a body after a quiet minute is accepted at once', async t => {
  const quiet = new BulkPace()
  rateBeside(quiet, nowMs => (nowMs % 100 === 0 ? 30 : 0.5), 0, 5000)
  for (let nowMs = 5000; nowMs < 65_000; nowMs += 2) quiet.waited(30, nowMs)
  t.equal(quiet.delayMs(65_000), 0)
  const pace = new BulkPace()
  rateBeside(pace, nowMs => (nowMs % 100 === 0 ? 30 : 0.5), 0, 5000)
  rateBeside(pace, undefined, 5000, 1000)
  t.equal(rateBeside(pace, undefined, 6000, 1000), unlimited)
  const again = rateBeside(pace, () => 0.5, 7000, 500)
  t.ok(again < 20_000, `${again}`)
})

test('a body costs its readings, or its bytes where they are more', async t => {
  const share = createFairShare({ perSecond: 1, burst: 100 }, () => 0)
  share.charge('a', 50, 50 * 256)
  t.equal(share.waitSeconds('a'), undefined)
  share.charge('a', 0, 60 * 256)
  t.equal(share.waitSeconds('a'), 11)
})

test('in the long run each writer takes at most the rate, the burst and one body', async t => {
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

test('a sender may send after the returned wait, and one without debt is forgotten', async t => {
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

const mebibyte = 1024 * 1024

/** Sends requests of this size. Those longer than `limit` fail in this way. */
function send(size: RequestSize, limit: number, how: 'refused' | 'unanswered', requests: number): number {
  let failures = 0
  for (let count = 0; count < requests; count++) {
    if (size.bytes <= limit) {
      size.passed(size.bytes, 100)
      continue
    }
    failures++
    size[how](size.bytes)
  }
  return failures
}

test('requests grow to the maximum within a few steps, unaffected by short ones', async t => {
  const size = new RequestSize(12 * mebibyte)
  size.passed(1000, 1)
  t.equal(size.bytes, mebibyte)
  t.equal(send(size, 12 * mebibyte, 'refused', 4), 0)
  t.equal(size.bytes, 12 * mebibyte)
})

test('a proxy with a limit refuses few of many', async t => {
  const size = new RequestSize(12 * mebibyte)
  const failures = send(size, 600_000, 'refused', 200)
  t.ok(failures > 0 && failures < 20, `${failures} were refused`)
  t.ok(size.bytes > 250_000)
})

test('a long outage shrinks requests to a row before they grow again', async t => {
  const size = new RequestSize(12 * mebibyte)
  send(size, 0, 'unanswered', 100)
  t.equal(size.bytes, 1)
  send(size, 12 * mebibyte, 'unanswered', 30)
  t.equal(size.bytes, 12 * mebibyte)
})

test('a request that took long is long enough', async t => {
  const size = new RequestSize(12 * mebibyte)
  size.passed(size.bytes, 20_000)
  t.equal(size.bytes, mebibyte)
})
