/** The slots of a local day, used to subtract the mean daily profile of a series. */

import { test } from 'tap'
import { daySlotMs, daySlots } from '../../../analytics/correlation/beyond-day.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { hourMs, minuteMs } from '../series.ts'

const startMs = Date.UTC(2026, 0, 1)

test('a slot has five values, and an hour at most', async t => {
  const width = (stepMs: number, observed: number) => daySlotMs({ stepMs }, observed) / minuteMs
  t.strictSame([width(5 * minuteMs, 8640), width(5 * minuteMs, 864), width(minuteMs, 7200)], [5, 10, 1])
  t.strictSame([width(hourMs, 24), width(5 * minuteMs, 3), width(15 * minuteMs, 2880)], [60, 60, 15])
})

test('positions follow the local clock', async t => {
  const at = (zone: string) => [...daySlots({ startMs, stepMs: hourMs, cells: 2 }, createLocalTime(zone), hourMs)]
  const first = ['UTC', 'Asia/Kolkata', 'America/New_York'].map(zone => at(zone).join(' '))
  t.strictSame(first, ['0.5 1.5', '6 7', '19.5 20.5'])
})
