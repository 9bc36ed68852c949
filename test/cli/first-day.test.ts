/** The first day on which a shard that is added may have readings. */

import { test } from 'tap'
import { firstDayUs } from '../../cli/add-shard.ts'
import { Settings } from '../../settings/settings.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const aheadMs = Settings.shape.TIMESTAMP_AHEAD_SECONDS.parse('86400') * 1000
const leaseMs = Settings.shape.NODE_LEASE_SECONDS.parse('60') * 1000

test('no process can have taken a reading of it an hour before, whatever its settings allow', async t => {
  t.notOk(Settings.shape.TIMESTAMP_AHEAD_SECONDS.safeParse('86401').success)
  t.notOk(Settings.shape.NODE_LEASE_SECONDS.safeParse('61').success)
  const midnightMs = Date.UTC(2026, 10, 30)
  for (const afterMs of [0, 1, 22 * hourMs, 23 * hourMs - leaseMs, 23 * hourMs - leaseMs + 1, dayMs - 1]) {
    const nowMs = midnightMs + afterMs
    const firstMs = firstDayUs(nowMs) / 1000
    t.equal(firstMs % dayMs, 0)
    const leftMs = firstMs - nowMs - aheadMs - leaseMs - hourMs
    t.ok(leftMs >= 0 && leftMs < dayMs, `${afterMs} ms after midnight`)
  }
})
