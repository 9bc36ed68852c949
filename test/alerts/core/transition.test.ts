import fc from 'fast-check'
import { test } from 'tap'
import { readingLeavesIdle } from '../../../alerts/core/beyond.ts'
import { Condition } from '../../../alerts/core/condition.ts'
import {
  idlePair,
  isOpen,
  type Observation,
  type PairState,
  pairFromJson,
  pairToJson,
} from '../../../alerts/core/pair.ts'
import { NewRule, type RuleCore } from '../../../alerts/core/rule.ts'
import { type Effect, step } from '../../../alerts/core/transition.ts'

const secondMs = 1000

function ruleOf(condition: object, durations: Partial<Omit<RuleCore, 'condition'>> = {}): RuleCore {
  return { condition: Condition.parse(condition), for_seconds: 0, keep_firing_seconds: 0, ...durations }
}

const at = (second: number, value: number, receiptSecond = second): Observation => ({
  kind: 'reading',
  timeUs: second * 1_000_000,
  receiptMs: receiptSecond * secondMs,
  value,
})
const tick = (nowSecond: number, dueSecond: number): Observation => {
  return { kind: 'tick', nowMs: nowSecond * secondMs, dueMs: dueSecond * secondMs, lastMs: 0 }
}

function walk(rule: RuleCore, observations: readonly Observation[], from: PairState = idlePair) {
  let state = from
  const effects: Effect[] = []
  for (const observation of observations) {
    const next = step(rule, state, observation)
    effects.push(...next.effects)
    state = next.state
  }
  return { state, effects, events: effects.map(({ kind, atMs }) => `${kind} ${atMs / secondMs}`) }
}

const warm = { kind: 'above', metric: 'temperature', value: 30, hysteresis: 2 }

test('a value beyond the threshold fires at once, and clears below the hysteresis', async t => {
  const { events, state } = walk(ruleOf(warm), [at(1, 30), at(2, 30.1), at(3, 29), at(4, 28), at(5, 28)])
  t.strictSame(events, ['opened 2', 'fired 2', 'resolved 4'])
  t.equal(state.phase, 'idle')
})

test('for_seconds counts from the first reading beyond, and restarts after a reading within', async t => {
  const rule = ruleOf(warm, { for_seconds: 60 })
  t.strictSame(walk(rule, [at(0, 31), at(59, 31), at(60, 31)]).events, ['opened 0', 'fired 60'])
  const { events, state } = walk(rule, [at(0, 31), at(30, 29), at(60, 31), at(119, 31)])
  t.strictSame(events, ['opened 0', 'dropped 30', 'opened 60'])
  t.equal(state.phase, 'pending')
})

test('keep_firing_seconds counts from the first reading within', async t => {
  const rule = ruleOf(warm, { keep_firing_seconds: 60 })
  const { events } = walk(rule, [at(0, 31), at(10, 27), at(30, 29), at(40, 27), at(99, 27), at(100, 27)])
  t.strictSame(events, ['opened 0', 'fired 0', 'resolved 100'])
})

test('a battery clears after a day within', async t => {
  const rule = ruleOf({ kind: 'battery', metric: 'battery_voltage', value: 3.3, hysteresis: 0.1 })
  const { events } = walk(rule, [at(0, 3.2), at(10, 3.5), at(86_409, 3.5), at(86_410, 3.5)])
  t.strictSame(events, ['opened 0', 'fired 0', 'resolved 86410'])
})

test('a change is measured against the value one window earlier', async t => {
  const drop = { kind: 'change', metric: 'pressure', value: -3, window_seconds: 3600, hysteresis: 0 }
  const hours = [1013, 1012, 1011.5, 1008, 1007.9].map((value, hour) => at(hour * 3600, value))
  const { events, effects } = walk(ruleOf(drop), hours)
  t.strictSame(events, ['opened 10800', 'fired 10800', 'resolved 14400'])
  t.match(effects[1], { value: -3.5 })
  const rise = walk(ruleOf({ ...drop, value: 3 }), hours)
  t.strictSame(rise.events, [])
  const either = walk(ruleOf({ ...drop, value: 3, absolute: true }), hours)
  t.equal(either.events[0], 'opened 10800')
  // The value before is older than a window and a quarter.
  t.strictSame(walk(ruleOf(drop), [at(0, 1013), at(5000, 1000)]).events, [])
})

test('a silence is due at its deadline, even if noticed late, and ends with a newer reading', async t => {
  const rule = ruleOf({ kind: 'silent', after_seconds: 100 }, { for_seconds: 20 })
  const ticks = [99, 100, 119, 120].map(second => tick(second, 100))
  t.strictSame(walk(rule, [at(0, 1), ...ticks]).events, ['opened 100', 'fired 120'])
  const { events, effects } = walk(rule, [at(0, 1), tick(500, 100), at(0, 1, 501), at(50, 1, 502)])
  t.strictSame(events, ['opened 100', 'fired 120', 'resolved 120'])
  t.match(effects[1], { value: 120 })
  // An outage of the service has moved the deadline.
  t.strictSame(walk(rule, [at(0, 1), tick(100, 100), tick(110, 300)]).events, ['opened 100', 'dropped 100'])
})

test('after a clock was ahead, correct readings show that the device is alive', async t => {
  const rule = ruleOf({ kind: 'silent', after_seconds: 100 })
  const { state } = walk(rule, [at(9000, 1, 10), tick(110, 110), at(120, 1)])
  t.equal(state.phase, 'idle')
  // Values apply in the order of the readings' timestamps.
  t.strictSame(walk(ruleOf(warm), [at(9000, 20, 10), at(120, 31)]).events, [])
})

test('values of a clock ahead count at their receipt', async t => {
  const { events } = walk(ruleOf({ ...warm, hysteresis: 0 }), [at(100, 31, 10), at(101, 20, 10), at(102, 31, 10)])
  t.strictSame(events, ['opened 10', 'fired 10', 'resolved 10', 'opened 10.001', 'fired 10.001'])
})

test('after six changes in an hour flapping is notified once, then nothing until a quiet half hour', async t => {
  const rule = ruleOf({ ...warm, hysteresis: 0 })
  const swings = Array.from({ length: 20 }, (_, index) => at(index * 60, index % 2 === 0 ? 31 : 20))
  const { events, state } = walk(rule, swings)
  t.strictSame(events.slice(-4), ['resolved 300', 'opened 360', 'fired 360', 'flapping 360'])
  t.ok(state.flapping)
  const lastChange = 19 * 60
  const still = walk(rule, [at(lastChange + 1799, 20), at(lastChange + 1800, 20)], state)
  t.strictSame(still.events, [`settled ${lastChange + 1800}`, `resolved ${lastChange + 1800}`])
  const fires = walk(rule, [at(lastChange + 60, 31), at(lastChange + 1860, 31)], state)
  t.strictSame(fires.events, [`settled ${lastChange + 1860}`])
  t.equal(fires.state.phase, 'firing')
})

test('hours, sites and facts fire and clear by one observation each', async t => {
  const hour = (hourMs: number, share: number): Observation => ({ kind: 'hour', hourMs, share })
  const complete = ruleOf({ kind: 'completeness', share: 0.9 })
  const hours = [hour(1000, 0.8), hour(2000, Number.NaN), hour(3000, 0.9)]
  t.strictSame(walk(complete, hours).events, ['opened 1', 'fired 1', 'resolved 3'])
  t.equal(walk(ruleOf({ kind: 'suspect', share: 0.2 }), [hour(1000, 0.3)]).events[1], 'fired 1')
  const site = (nowMs: number, silent: number, devices: number) => ({ kind: 'site' as const, nowMs, silent, devices })
  const siteRule = ruleOf({ kind: 'site_silent', share: 0.5, count: 2 })
  const counts = [site(0, 1, 1), site(1000, 2, 4), site(2000, 2, 3), site(3000, 0, 0)]
  t.strictSame(walk(siteRule, counts).events, ['opened 2', 'fired 2', 'resolved 3'])
  const fact = (nowMs: number, holds: boolean): Observation => ({ kind: 'fact', nowMs, holds, value: 1, text: '' })
  const away = ruleOf({ kind: 'service', fact: 'questdb_away' }, { for_seconds: 10 })
  const facts = [fact(0, true), fact(10_000, true), fact(20_000, false)]
  t.strictSame(walk(away, facts).events, ['opened 0', 'fired 10', 'resolved 20'])
})

test('the end of a pair resolves a firing alert, and drops a pending one', async t => {
  const end: Observation = { kind: 'end', nowMs: 5000, reason: 'rule_removed' }
  t.match(walk(ruleOf(warm), [at(1, 31), end]).effects.at(-1), { kind: 'resolved', reason: 'rule_removed' })
  t.match(walk(ruleOf(warm, { for_seconds: 9 }), [at(1, 31), end]).effects.at(-1), { kind: 'dropped' })
  t.strictSame(walk(ruleOf(warm), [end]), { state: idlePair, effects: [], events: [] })
})

const conditions = fc.constantFrom(
  { kind: 'silent', after_seconds: 300 },
  warm,
  { kind: 'below', metric: 'temperature', value: 30, hysteresis: 1 },
  { kind: 'change', metric: 'temperature', value: 5, window_seconds: 600, hysteresis: 1 },
  { kind: 'change', metric: 'temperature', value: -5, absolute: true, window_seconds: 600, hysteresis: 0 },
)
const seconds = fc.constantFrom(0, 0, 60, 600)
const rules = fc
  .record({ condition: conditions, for_seconds: seconds, keep_firing_seconds: seconds })
  .map(({ condition, ...durations }) => ruleOf(condition, durations))
const readings = fc
  .array(fc.record({ gap: fc.integer({ min: 1, max: 400 }), value: fc.integer({ min: 24, max: 36 }) }), {
    maxLength: 60,
    size: 'max',
  })
  .map(gaps => {
    let second = 0
    return gaps.map(({ gap, value }) => {
      second += gap
      return at(second, value)
    })
  })

test('effects come in a valid order for an alert that agrees with the state', async () => {
  const before: Record<Effect['kind'], RegExp> = {
    opened: /^(|resolved|dropped)$/,
    dropped: /^opened$/,
    fired: /^opened$/,
    resolved: /^(fired|settled)$/,
    flapping: /^(fired|settled)$/,
    settled: /^flapping$/,
  }
  fc.assert(
    fc.property(rules, readings, (rule, observations) => {
      const { effects, state } = walk(rule, observations)
      let last = ''
      for (const { kind } of effects) {
        if (!before[kind].test(last)) throw new Error(`${kind} after ${last}`)
        last = kind
      }
      return isOpen(state) === /^(opened|fired|flapping|settled)$/.test(last)
    }),
  )
})

test('a late reading changes nothing', async () => {
  fc.assert(
    fc.property(rules, readings, fc.nat(), fc.integer({ min: 0, max: 60 }), (rule, observations, seed, value) => {
      const { state } = walk(rule, observations)
      const last = observations.at(-1)
      if (last?.kind !== 'reading') return true
      const late: Observation = { ...last, timeUs: last.timeUs - (seed % last.timeUs), value }
      return step(rule, state, late).state === state
    }),
  )
})

test('a reading leaves a pair idle where its step would', async () => {
  fc.assert(
    fc.property(rules, readings, (rule, observations) =>
      observations.every(observation => {
        if (observation.kind !== 'reading') return true
        const { state, effects } = step(rule, idlePair, observation)
        const isIdle = state.phase === 'idle' && effects.length === 0 && state.samples === undefined
        return readingLeavesIdle(rule.condition, observation.value) === isIdle
      }),
    ),
  )
})

test('a state is equal after being written and read, at any point', async () => {
  fc.assert(
    fc.property(rules, readings, fc.nat({ max: 60 }), (rule, observations, place) => {
      const first = walk(rule, observations.slice(0, place))
      const read = pairFromJson(JSON.parse(JSON.stringify(pairToJson(first.state))))
      const second = walk(rule, observations.slice(place), read)
      return [...first.events, ...second.events].join() === walk(rule, observations).events.join()
    }),
  )
})

test('a rule needs a selector, except on the service itself', async t => {
  const fields = { name: 'warm', condition: warm }
  t.match(NewRule.parse({ ...fields, selector: { all: true } }), { severity: 'warning', enabled: true, channels: [] })
  t.notOk(NewRule.safeParse(fields).success)
  const service = { name: 'away', condition: { kind: 'service', fact: 'questdb_away' } }
  t.ok(NewRule.safeParse(service).success)
  t.notOk(NewRule.safeParse({ ...service, selector: { all: true } }).success)
  for (const battery of [{}, { days: 5, value: 3 }, { value: 3 }, { metric: 'battery_voltage' }]) {
    t.notOk(Condition.safeParse({ kind: 'battery', ...battery }).success, JSON.stringify(battery))
  }
  t.ok(Condition.safeParse({ kind: 'battery', days: 5 }).success)
})
