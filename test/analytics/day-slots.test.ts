/** Series without their mean course of the local day. */

import { test } from 'tap'
import { dayRemoved, daySlotMs, daySlots } from '../../analytics/time/day-slots.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { autoregressive, withLoss } from './series.ts'

const hourMs = 3_600_000
const minuteMs = 60_000
const startMs = Date.UTC(2026, 0, 1)
const utc = createLocalTime('UTC')

function day(cells: number, stepMs: number, slotMs: number, noise: Float64Array = new Float64Array(cells)) {
  const positions = daySlots({ startMs, stepMs, cells }, utc, slotMs)
  const values = noise.map((value, cell) => value + 1000 + 8 * Math.sin((2 * Math.PI * cell * stepMs) / (24 * hourMs)))
  return dayRemoved(values, positions, (24 * hourMs) / slotMs)
}

test('a slot has five values, and an hour at most', async t => {
  const width = (stepMs: number, observed: number) => daySlotMs({ stepMs }, observed) / minuteMs
  t.strictSame([width(5 * minuteMs, 8640), width(5 * minuteMs, 864), width(minuteMs, 7200)], [5, 10, 1])
  t.strictSame([width(hourMs, 24), width(5 * minuteMs, 3), width(15 * minuteMs, 2880)], [60, 60, 15])
})

test('positions go by the local clock', async t => {
  const at = (zone: string) => [...daySlots({ startMs, stepMs: hourMs, cells: 2 }, createLocalTime(zone), hourMs)]
  t.strictSame(
    [at('UTC'), at('Asia/Kolkata'), at('America/New_York')],
    [
      [0.5, 1.5],
      [6, 7],
      [19.5, 20.5],
    ],
  )
})

test('what comes every day alike is gone, whatever is missing', async t => {
  const largest = (values: Float64Array) => values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0)
  t.ok(largest(day(720, hourMs, hourMs)) < 1e-10)
  t.ok(largest(day(8640, 5 * minuteMs, 5 * minuteMs)) < 1e-10)
  t.ok(largest(day(864, 5 * minuteMs, hourMs)) < 0.15, 'in slots wider than a cell a little is left')
  const noise = withLoss(autoregressive(720, 0.5, 3), 0.3, 4)
  const rest = day(720, hourMs, hourMs, noise)
  t.ok(rest.every((value, cell) => Number.isNaN(value) === Number.isNaN(noise[cell])))
  const hours = new Float64Array(24)
  for (const [cell, value] of rest.entries()) if (!Number.isNaN(value)) (hours[cell % 24] as number) += value
  t.ok(largest(hours) < 1e-9, 'the mean of each hour is 0')
  const nothing = new Float64Array(48).fill(Number.NaN)
  t.ok(dayRemoved(nothing, daySlots({ startMs, stepMs: hourMs, cells: 48 }, utc, hourMs), 24).every(Number.isNaN))
})
