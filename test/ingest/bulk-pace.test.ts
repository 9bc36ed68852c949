/** Bulk data gives way to single readings, by a clock of the test. */

import t from 'tap'
import { BulkPace } from '../../ingest/journal/bulk-pace.ts'

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

t.test('without single readings there is no limit', async t => {
  t.equal(rateBeside(new BulkPace(), undefined, 0, 1000), unlimited)
})

t.test('it grows while single readings wait for a short time, and is never below its minimum', async t => {
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

t.test('a body after a quiet minute is taken at once, and without single readings the limit ends', async t => {
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
