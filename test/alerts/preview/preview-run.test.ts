/** The preview of readings in pieces. */

import t from 'tap'
import { Condition } from '../../../alerts/core/condition.ts'
import type { JobDevice, PreviewJob } from '../../../alerts/preview/preview-job.ts'
import { PreviewRun } from '../../../alerts/preview/preview-run.ts'
import { qualityLimits } from '../../../analytics/quality/quality-limits.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'

const local = createLocalTime('UTC')
const fromMs = Date.UTC(2026, 10, 23)
const [minuteMs, hourMs] = [60_000, 3_600_000]
const device = (number: number, given: Partial<JobDevice> = {}): JobDevice => ({
  number,
  afterMs: 10 * minuteMs,
  expectedMs: minuteMs,
  lastMs: Number.NaN,
  ...given,
})

type Job = Partial<Omit<PreviewJob, 'rule'>>

/** Rows of device, minute since the start of the range, and value. */
function resultOf(
  condition: object,
  rows: readonly (readonly [number, number, number?])[],
  {
    for_seconds = 0,
    keep_firing_seconds = 0,
    ...job
  }: Job & { for_seconds?: number; keep_firing_seconds?: number } = {},
) {
  const rule = { condition: Condition.parse(condition), for_seconds, keep_firing_seconds }
  const range = { timeZone: 'UTC', fromMs, toMs: fromMs + 24 * hourMs, readFromMs: fromMs - 24 * hourMs }
  const run = new PreviewRun({ rule, ...range, devices: [device(1), device(2)], ...job }, local)
  // Each piece has one row.
  for (const [number, minute, value = Number.NaN] of rows) {
    const timesUs = Float64Array.of((fromMs + minute * minuteMs) * 1000)
    run.take({ device: Int32Array.of(number), timesUs, values: [Float64Array.of(value)], length: 1 })
  }
  return run.end()
}

function previewOf(...asked: Parameters<typeof resultOf>) {
  const minute = (timeMs: number) => (timeMs - fromMs) / minuteMs
  return resultOf(...asked).devices.map(({ number, count, longestMs, intervals }) => {
    const minutes = intervals.map(({ fromMs, toMs }) => [minute(fromMs), minute(toMs)])
    return { number, count, longest: minute(fromMs + longestMs), intervals: minutes }
  })
}

const warm = { kind: 'above', metric: 'temperature', value: 30, hysteresis: 1 }
const quiet = { count: 0, longest: 0, intervals: [] }

t.test('alerts that begin before the range or continue after it are cut at its ends', async t => {
  const devices = previewOf(warm, [
    [1, -60, 31],
    [2, -60, 31],
    [2, -30, 20],
    [1, 60, 20],
    [2, 23 * 60, 35],
  ])
  t.strictSame(devices, [
    { number: 1, count: 1, longest: 60, intervals: [[0, 60]] },
    { number: 2, count: 1, longest: 60, intervals: [[23 * 60, Number.NaN]] },
  ])
})

t.test('a device silent since before the range is silent all the time, unlike a new one', async t => {
  const devices = [device(1, { lastMs: fromMs - 40 * 24 * hourMs }), device(2)]
  t.strictSame(previewOf({ kind: 'silent' }, [], { devices }), [
    { number: 1, count: 1, longest: 24 * 60, intervals: [[0, Number.NaN]] },
    { number: 2, ...quiet },
  ])
})

t.test('a deadline between two readings counts when it passes, and with half and twice the duration', async t => {
  // Silent from minute 10 to 22, from 40 to 50 and from 60 on.
  const rows = [
    [1, 0],
    [1, 22],
    [1, 30],
    [1, 50],
  ] as const
  const asked = { devices: [device(1)], for_seconds: 600 }
  t.strictSame(previewOf({ kind: 'silent' }, rows, asked), [
    {
      number: 1,
      count: 2,
      longest: 24 * 60 - 70,
      intervals: [
        [20, 22],
        [70, Number.NaN],
      ],
    },
  ])
  const { weeks } = resultOf({ kind: 'silent' }, rows, asked)
  t.strictSame(weeks.slice(0, 1), [{ week: '2026-W48', count: 2, half: 3, twice: 1 }])
})

t.test('a site is evaluated whenever time or a reading changes it', async t => {
  const rows = [
    [1, 0],
    [2, 5],
    [1, 30],
    [2, 60],
    [1, 60],
  ] as const
  const silent = { kind: 'site_silent', share: 0.5 }
  t.strictSame(previewOf(silent, rows), [
    {
      number: 0,
      count: 3,
      longest: 24 * 60 - 70,
      intervals: [
        [15, 30],
        [40, 60],
        [70, Number.NaN],
      ],
    },
  ])
  // It clears before the devices are silent again.
  const [lasting] = previewOf(silent, rows, { for_seconds: 480, keep_firing_seconds: 480 })
  t.strictSame(lasting?.intervals, [
    [23, 38],
    [48, 68],
    [78, Number.NaN],
  ])
})

t.test('a flat line is suspect by the hour', async t => {
  const rows = Array.from({ length: 48 * 12 }, (_, index): [number, number, number] => {
    const minute = index * 5 - 24 * 60
    const isStuck = minute >= 5 * 60 && minute < 12 * 60
    return [1, minute, isStuck ? 20 : 20 + 4 * Math.sin(index / 50) + (index % 4) / 10]
  })
  const quality = { expectedMs: null, limits: [qualityLimits('temperature', null)] }
  const devices = [device(1, { quality })]
  const [found] = previewOf({ kind: 'suspect', share: 0.1, metric: 'temperature' }, rows, { devices })
  t.match(found, { count: 1, intervals: [[9 * 60, 13 * 60]] })
})

t.test('hours are counted by the expected interval, including empty ones', async t => {
  const minutes = (number: number, from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => [number, from + at] as const)
  // The second hour has half of its readings, the fourth and the fifth none.
  const rows = [...minutes(1, -60, 60), ...minutes(1, 60, 90), ...minutes(1, 120, 180), ...minutes(1, 300, 400)]
  const job = { toMs: fromMs + 400 * minuteMs, readFromMs: fromMs - hourMs }
  const complete = { kind: 'completeness', share: 0.9 }
  const [device1] = previewOf(complete, rows, job)
  t.match(device1, { number: 1, count: 2, longest: 120 })
  t.equal(device1?.intervals.join(' to '), '120,180 to 240,360')
  const irregular = { ...job, devices: [device(1, { expectedMs: Number.NaN })] }
  t.strictSame(previewOf(complete, rows, irregular), [{ number: 1, ...quiet }])
  // The hour in which a device begins is not a full one.
  t.strictSame(previewOf(complete, minutes(1, 30, 180), job)[0]?.count, 1)
})

t.test('an hour is unusual by the weeks before it, once it is seen', async t => {
  const lowered = [10 * 60, 20 * 60] as const
  const rows = Array.from({ length: 29 * 24 }, (_, hour): [number, number, number] => {
    const minute = (hour - 28 * 24) * 60
    const isLow = minute >= lowered[0] && minute < lowered[1]
    return [1, minute, 20 + 3 * Math.sin((2 * Math.PI * hour) / 24) + 0.2 * ((hour * 7) % 5) - (isLow ? 9 : 0)]
  })
  const [found] = previewOf({ kind: 'unusual', metric: 'temperature' }, rows, { readFromMs: fromMs - 28 * 24 * hourMs })
  t.match(found, { number: 1, count: 1 })
  const [beginMinute = 0] = found?.intervals[0] ?? []
  t.ok(beginMinute > lowered[0] && beginMinute <= lowered[0] + 180, `${beginMinute}`)
})
