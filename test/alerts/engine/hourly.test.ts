import { test } from 'tap'
import type { Observation } from '../../../alerts/core/observation.ts'
import { type NewRule, type Rule, NewRule as schema } from '../../../alerts/core/rule.ts'
import { lastFullHourMs, observeHour } from '../../../alerts/engine/hourly.ts'

const hourMs = 3_600_000

function ruleOf(id: number, condition: object): Rule {
  const rule: NewRule = schema.parse({ name: 'rule', selector: { all: true }, condition })
  return { ...rule, id, owner: null, version: 1, created_at: '' }
}

test('an hour is told some minutes after its end', async t => {
  const begin = Date.UTC(2026, 0, 1, 10)
  t.equal(lastFullHourMs(begin + hourMs + 299_999), begin - hourMs)
  t.equal(lastFullHourMs(begin + hourMs + 300_000), begin)
})

test('rules on completeness are told the hour of each of their devices, and other rules are not', async t => {
  const told: [number, number, Observation][] = []
  await observeHour(hourMs, {
    run: { observe: (...observed) => void told.push(observed) },
    rules: [ruleOf(1, { kind: 'completeness', share: 0.9 }), ruleOf(2, { kind: 'silent' })],
    coverage: { devicesOf: () => [5, 6] },
    live: { hourShareOf: number => (number === 5 ? 1.02 : Number.NaN) },
    signal: new AbortController().signal,
  })
  t.strictSame(told, [
    [1, 5, { kind: 'hour', hourMs: 2 * hourMs, share: 1 }],
    [1, 6, { kind: 'hour', hourMs: 2 * hourMs, share: Number.NaN }],
  ])
})
