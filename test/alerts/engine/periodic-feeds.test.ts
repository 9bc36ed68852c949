import { test } from 'tap'
import type { AlertDevice } from '../../../alerts/core/devices.ts'
import type { Observation } from '../../../alerts/core/pair.ts'
import { type NewRule, type Rule, NewRule as schema } from '../../../alerts/core/rule.ts'
import { lastFullHourMs, observeHour, observeUnusual } from '../../../alerts/engine/periodic-feeds.ts'

const hourMs = 3_600_000

function ruleOf(id: number, condition: object): Rule {
  const rule: NewRule = schema.parse({ name: 'rule', selector: { all: true }, condition })
  return { ...rule, id, owner: null, version: 1, created_at: '' }
}

test('an hour is observed some minutes after its end', async t => {
  const begin = Date.UTC(2026, 0, 1, 10)
  t.equal(lastFullHourMs(begin + hourMs + 299_999), begin - hourMs)
  t.equal(lastFullHourMs(begin + hourMs + 300_000), begin)
})

test('only rules on completeness get the hour of each of their devices', async t => {
  const observations: [number, number, Observation][] = []
  await observeHour(hourMs, {
    run: { observe: (...observed) => void observations.push(observed) },
    rules: [ruleOf(1, { kind: 'completeness', share: 0.9 }), ruleOf(2, { kind: 'silent' })],
    coverage: { devicesOf: () => [5, 6] },
    live: { hourShareOf: number => (number === 5 ? 1.02 : Number.NaN) },
    signal: new AbortController().signal,
  })
  t.strictSame(observations, [
    [1, 5, { kind: 'hour', hourMs: 2 * hourMs, share: 1 }],
    [1, 6, { kind: 'hour', hourMs: 2 * hourMs, share: Number.NaN }],
  ])
})

test("rules on unusual values get each device's deviation, or an unknown one after a failed query", async t => {
  const observations: [number, number, Observation][] = []
  const devices = new Map([5, 6, 7].map(number => [number, { number }])) as unknown as ReadonlyMap<number, AlertDevice>
  await observeUnusual(ruleOf(1, { kind: 'unusual', metric: 'temperature' }), 3 * hourMs, {
    run: { observe: (...observed) => void observations.push(observed) },
    coverage: { devicesOf: () => [5, 6, 7, 8] },
    devices: { byNumber: number => devices.get(number) },
    unusualShifts: async (_, metric) => {
      t.equal(metric, 'temperature')
      return new Map([
        [5, -3.1],
        [6, 0],
      ])
    },
    signal: new AbortController().signal,
  })
  const observed = (shift: number) => ({ kind: 'unusual', hourMs: 3 * hourMs, shift })
  t.strictSame(observations, [
    [1, 5, observed(-3.1)],
    [1, 6, observed(0)],
    [1, 7, observed(Number.NaN)],
  ])
})
