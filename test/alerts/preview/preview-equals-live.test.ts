/** The evaluation of the service and the preview come to the same, whatever the readings and the rule are. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { Condition } from '../../../alerts/core/condition.ts'
import { noDevice, type RuleCore } from '../../../alerts/core/rule.ts'
import type { Effect } from '../../../alerts/core/transition.ts'
import { noColumn } from '../../../alerts/engine/engine-rule.ts'
import { Evaluator } from '../../../alerts/engine/evaluator.ts'
import type { EngineReading } from '../../../alerts/engine/value-watch.ts'
import { PreviewRun } from '../../../alerts/preview/preview-run.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { runs } from '../../support/runs.ts'

const fromMs = Date.UTC(2026, 10, 24)
const lastSecond = 3000
const devices = [1, 2, 3]
const local = createLocalTime('UTC')

interface Reading {
  second: number
  device: number
  value: number
}

const threshold = fc.record({ value: fc.constant(5), hysteresis: fc.integer({ min: 0, max: 2 }) })
const after = { after_seconds: fc.integer({ min: 5, max: 150 }) }
const condition: fc.Arbitrary<object> = fc.oneof(
  threshold.map(given => ({ kind: 'above', metric: 'temperature', ...given })),
  threshold.map(given => ({ kind: 'below', metric: 'temperature', ...given })),
  fc
    .record({
      value: fc.constantFrom(-3, 2, 4),
      absolute: fc.boolean(),
      window_seconds: fc.integer({ min: 60, max: 300 }),
    })
    .map(given => ({ kind: 'change', metric: 'temperature', hysteresis: 1, ...given })),
  fc.record(after).map(given => ({ kind: 'silent', ...given })),
  fc
    .record({ ...after, share: fc.constantFrom(0, 0.4, 0.7), count: fc.integer({ min: 1, max: 3 }) })
    .map(given => ({ kind: 'site_silent', ...given })),
)
// Half of it is a whole number of seconds, too: time is told to the service once a second here.
const duration = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 60 }).map(half => 2 * half),
)
const rule: fc.Arbitrary<RuleCore> = fc
  .record({ condition, for_seconds: duration, keep_firing_seconds: duration })
  .map(({ condition, ...durations }) => ({ condition: Condition.parse(condition), ...durations }))

const gap = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 30 }) },
  { weight: 1, arbitrary: fc.integer({ min: 60, max: 400 }) },
)
const value = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 10 }) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
)
const readingsOf = (device: number) =>
  fc.array(fc.tuple(gap, value), { maxLength: 120, size: 'max' }).map(steps => {
    let second = 0
    return steps.map(([gap, value]): Reading => {
      second += gap
      return { second, device, value }
    })
  })
const readings = fc.tuple(...devices.map(readingsOf)).map(all =>
  all
    .flat()
    .filter(({ second }) => second < lastSecond)
    .sort((a, b) => a.second - b.second || a.device - b.device),
)

function openEvaluator(core: RuleCore, covered: readonly number[]): Evaluator {
  const evaluator = new Evaluator()
  const column = 'metric' in core.condition ? 0 : noColumn
  evaluator.setRule({ id: 1, version: 1, core, severity: 'warning', metric: null, column })
  evaluator.cover(1, Int32Array.from(covered))
  for (const number of devices) {
    evaluator.setDevice({ number, seenUs: Number.NaN, lastMs: Number.NaN, lateSeconds: 60, freshSeconds: 0 })
  }
  return evaluator
}

type Intervals = [number, number][]

/** Of each device when it fired, as the service has it: seconds, NaN of one that goes on. */
function live(core: RuleCore, all: readonly Reading[]): Map<number, Intervals> {
  const isOfSite = core.condition.kind === 'site_silent'
  const evaluator = openEvaluator(core, isOfSite ? [noDevice, ...devices] : devices)
  const found = new Map((isOfSite ? [noDevice] : devices).map((device): [number, Intervals] => [device, []]))
  let next = 0
  for (let second = 0; second <= lastSecond; second++) {
    for (; all[next]?.second === second; next++) evaluator.take(told(all[next] as Reading))
    evaluator.advance(fromMs + second * 1000)
    for (const { device, effects } of evaluator.takeTransitions(1000, true)) note(found.get(device) ?? [], effects)
  }
  // What begins at the very end of the range is not in it.
  return new Map([...found].map(([device, intervals]) => [device, intervals.filter(([at]) => at < lastSecond)]))
}

function note(intervals: Intervals, effects: readonly Effect[]): void {
  for (const { kind, atMs } of effects) {
    const at = (atMs - fromMs) / 1000
    if (kind === 'fired') intervals.push([at, Number.NaN])
    const open = intervals.at(-1)
    if (kind === 'resolved' && open !== undefined) open[1] = at
  }
}

function told({ second, device, value }: Reading): EngineReading {
  const timeMs = fromMs + second * 1000
  return { device, timeUs: timeMs * 1000, receiptMs: timeMs, value: () => value, custom: () => Number.NaN }
}

function previewed(core: RuleCore, all: readonly Reading[], pieceRows: number) {
  const job = devices.map(number => {
    const afterMs = 'after_seconds' in core.condition ? (core.condition.after_seconds ?? 60) * 1000 : 60_000
    return { number, afterMs, expectedMs: Number.NaN, lastMs: Number.NaN }
  })
  const range = { timeZone: 'UTC', fromMs, toMs: fromMs + lastSecond * 1000, readFromMs: fromMs }
  const run = new PreviewRun({ rule: core, ...range, devices: job }, local)
  for (let at = 0; at < all.length; at += pieceRows) {
    const rows = all.slice(at, at + pieceRows)
    run.take({
      device: Int32Array.from(rows, ({ device }) => device),
      timesUs: Float64Array.from(rows, ({ second }) => (fromMs + second * 1000) * 1000),
      values: [Float64Array.from(rows, ({ value }) => value)],
      length: rows.length,
    })
  }
  const { devices: found, weeks } = run.end()
  const seconds = (timeMs: number) => (timeMs - fromMs) / 1000
  const intervals = found.map(({ number, intervals }) => {
    return [number, intervals.map(({ fromMs, toMs }) => [seconds(fromMs), seconds(toMs)])] as const
  })
  return { intervals: new Map(intervals), weeks }
}

const countOf = (found: Map<number, unknown[]>) => [...found.values()].reduce((sum, { length }) => sum + length, 0)

test('preview equals live', async t => {
  let fired = 0
  const property = fc.property(rule, readings, fc.integer({ min: 1, max: 50 }), (core, all, pieceRows) => {
    const { intervals, weeks } = previewed(core, all, pieceRows)
    const asIs = live(core, all)
    fired += countOf(asIs)
    assert.deepStrictEqual(intervals, asIs)
    const lasting = (factor: number) => countOf(live({ ...core, for_seconds: core.for_seconds * factor }, all))
    assert.deepStrictEqual(weeks, [{ week: '2026-W48', count: countOf(asIs), half: lasting(0.5), twice: lasting(2) }])
  })
  fc.assert(property, runs(25, 300))
  t.ok(fired > 20, `${fired} alerts`)
})
