/** Suspect readings: the evaluation of the service and the preview come to the same. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import type { AlertDevices } from '../../../alerts/core/devices.ts'
import type { AlertReadings, AskedReadings } from '../../../alerts/core/readings.ts'
import { NewRule, type Rule } from '../../../alerts/core/rule.ts'
import { hourMs, suspectMetrics } from '../../../alerts/core/suspect-share.ts'
import { noColumn } from '../../../alerts/engine/engine-rule.ts'
import { Evaluator } from '../../../alerts/engine/evaluator.ts'
import { observeSuspects } from '../../../alerts/engine/suspect-hours.ts'
import { PreviewRun } from '../../../alerts/preview/preview-run.ts'
import { qualityLimits } from '../../../analytics/quality/quality-limits.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { runs } from '../../support/runs.ts'

const readFromMs = Date.UTC(2026, 10, 24)
/** From then on an hour has a day before it. */
const fromMs = readFromMs + 24 * hourMs
const toMs = fromMs + 14 * hourMs + 1000
const stepMs = 300_000
const numbers = [1, 2]
const local = createLocalTime('UTC')

interface Row {
  device: number
  timeMs: number
  temperature: number
  humidity: number
}

/** Of which stretches a device's day is made: from when on, and what it does then. */
const stretch = fc.record({
  hours: fc.integer({ min: 1, max: 9 }),
  mode: fc.constantFrom('usual', 'usual', 'stuck', 'wild', 'silent', 'without humidity'),
})
const stretches = fc.array(stretch, { minLength: 6, maxLength: 12 })
const rule = fc
  .record({
    share: fc.constantFrom(0, 0.05, 0.5),
    metric: fc.option(fc.constantFrom('temperature', 'humidity'), { nil: undefined }),
    for_seconds: fc.constantFrom(0, 7200),
    keep_firing_seconds: fc.constantFrom(0, 3600),
  })
  .map(({ share, metric, ...durations }): Rule => {
    const condition = { kind: 'suspect', share, ...(metric === undefined ? {} : { metric }) }
    const given = NewRule.parse({ name: 'rule', selector: { all: true }, condition, ...durations })
    return { ...given, id: 1, owner: null, version: 1, created_at: '' }
  })

function rowsOf(device: number, given: readonly { hours: number; mode: string }[]): Row[] {
  const modes = given.flatMap(({ hours, mode }) => Array.from({ length: hours }, () => mode))
  const rows: Row[] = []
  for (let timeMs = readFromMs; timeMs < toMs; timeMs += stepMs) {
    const mode = modes[Math.floor((timeMs - readFromMs) / hourMs)] ?? modes.at(-1) ?? 'usual'
    const index = (timeMs - readFromMs) / stepMs
    if (mode !== 'silent') rows.push({ device, timeMs, ...valuesOf(mode, index, device) })
  }
  return rows
}

function valuesOf(mode: string, index: number, device: number): Pick<Row, 'temperature' | 'humidity'> {
  if (mode === 'stuck') return { temperature: 20, humidity: 50 }
  const usual = 20 + 4 * Math.sin(index / 50 + device) + (index % 4) / 10
  return {
    temperature: mode === 'wild' && index % 5 === 0 ? usual + 9 : usual,
    humidity: mode === 'without humidity' ? Number.NaN : 50 + 9 * Math.sin(index / 30),
  }
}

function pieceOf(rows: readonly Row[], columns: readonly (string | undefined)[]): AlertReadings {
  return {
    device: Int32Array.from(rows, ({ device }) => device),
    timesUs: Float64Array.from(rows, ({ timeMs }) => timeMs * 1000),
    values: columns.map(name =>
      Float64Array.from(rows, row => (name === 'temperature' || name === 'humidity' ? row[name] : Number.NaN)),
    ),
    length: rows.length,
  }
}

const qualityOf: AlertDevices['qualityOf'] = (_, metrics) => ({
  expectedMs: null,
  limits: metrics.map(metric => qualityLimits(metric, null)),
})

const registry: AlertDevices = {
  all: () => [],
  byNumber: number => {
    const names = { symbol: `d-${number}`, name: `d${number}`, location_short: '' }
    return { number, ...names, tags: [], owner: null, log_switch: true }
  },
  onChange: () => undefined,
  mayRead: () => true,
  isAdministrator: owner => owner === null,
  seriesOf: () => undefined,
  qualityOf,
}

type Intervals = [number, number][]
const hourOf = (timeMs: number) => (timeMs - fromMs) / hourMs

async function live(rule: Rule, all: readonly Row[]): Promise<Map<number, Intervals>> {
  const evaluator = new Evaluator()
  const { condition, for_seconds, keep_firing_seconds } = rule
  const core = { condition, for_seconds, keep_firing_seconds }
  evaluator.setRule({ id: 1, version: 1, core, severity: 'warning', metric: null, column: noColumn })
  evaluator.cover(1, Int32Array.from(numbers))
  const found = new Map(numbers.map((device): [number, Intervals] => [device, []]))
  async function* readings({ devices, columns, fromUs, toUs }: AskedReadings) {
    const wanted = new Set(devices.map(({ number }) => number))
    const rows = all.filter(
      ({ device, timeMs }) => wanted.has(device) && timeMs * 1000 >= fromUs && timeMs * 1000 < toUs,
    )
    // Some rows a piece.
    for (let at = 0; at < rows.length; at += 50) yield pieceOf(rows.slice(at, at + 50), columns)
  }
  for (let beginMs = fromMs - hourMs; beginMs + hourMs <= toMs; beginMs += hourMs) {
    await observeSuspects({ beginMs, atMs: beginMs + hourMs }, [rule], {
      run: { observe: (...observed) => evaluator.observe(...observed) },
      coverage: { devicesOf: () => numbers },
      devices: registry,
      readings,
      signal: new AbortController().signal,
    })
    for (const { device, effects } of evaluator.takeTransitions(1000, true)) {
      const intervals = found.get(device) as Intervals
      for (const { kind, atMs } of effects) {
        if (kind === 'fired') intervals.push([hourOf(atMs), Number.NaN])
        if (kind === 'resolved') (intervals.at(-1) as [number, number])[1] = hourOf(atMs)
      }
    }
  }
  return found
}

function previewed({ condition, for_seconds, keep_firing_seconds }: Rule, all: readonly Row[]) {
  const metrics = condition.kind === 'suspect' ? suspectMetrics(condition) : []
  const run = new PreviewRun(
    {
      rule: { condition, for_seconds, keep_firing_seconds },
      ...{ timeZone: 'UTC', fromMs, toMs, readFromMs },
      devices: numbers.map(number => {
        const quality = qualityOf(number, metrics)
        return { number, afterMs: 0, expectedMs: Number.NaN, lastMs: Number.NaN, quality }
      }),
    },
    local,
  )
  for (let at = 0; at < all.length; at += 37) run.take(pieceOf(all.slice(at, at + 37), metrics))
  return new Map(
    run.end().devices.map(({ number, intervals }) => {
      return [number, intervals.map(({ fromMs, toMs }) => [hourOf(fromMs), hourOf(toMs)])]
    }),
  )
}

test('preview equals live', async t => {
  let fired = 0
  const property = fc.asyncProperty(rule, fc.tuple(stretches, stretches), async (rule, given) => {
    const all = given
      .flatMap((stretches, index) => rowsOf(numbers[index] as number, stretches))
      .sort((a, b) => a.timeMs - b.timeMs || a.device - b.device)
    const found = await live(rule, all)
    for (const intervals of found.values()) fired += intervals.length
    assert.deepStrictEqual(previewed(rule, all), found)
  })
  await fc.assert(property, runs(15, 150))
  t.ok(fired > 2, `${fired} alerts`)
})
