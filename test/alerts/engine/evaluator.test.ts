import { type Test, test } from 'tap'
import { Condition, metricOf } from '../../../alerts/core/condition.ts'
import { idlePair } from '../../../alerts/core/pair.ts'
import { isOfWhole, type RuleCore } from '../../../alerts/core/rule.ts'
import { customColumn, noColumn } from '../../../alerts/engine/covered-pairs.ts'
import { Evaluator } from '../../../alerts/engine/evaluator.ts'
import type { EngineReading } from '../../../alerts/engine/pair-states.ts'
import { memoryUsed } from '../../support/memory-used.ts'

const startMs = Date.UTC(2026, 0, 1)
const never = { lateSeconds: 600, freshSeconds: 120, lastMs: Number.NaN, seenUs: Number.NaN }

/** Times are seconds from the start. */
function createWorld() {
  const evaluator = new Evaluator()
  let nowSecond = 0
  const msOf = (second: number) => startMs + second * 1000
  function advance(second: number): void {
    nowSecond = second
    while (evaluator.advance(msOf(second)));
  }
  /** The pending writes, as `rule/device effect second`. */
  function written(all = false): string[] {
    return evaluator.takeTransitions(1000, all).flatMap(({ rule, device, effects, state }) => {
      const of = `${rule}/${device}`
      if (effects.length === 0) return [`${of} ${state.phase}`]
      return effects.map(({ kind, atMs }) => `${of} ${kind} ${(atMs - startMs) / 1000}`)
    })
  }
  return {
    evaluator,
    msOf,
    rule(id: number, condition: object, devices: number[], durations: Partial<RuleCore> = {}) {
      const parsed = Condition.parse(condition)
      const metric = metricOf(parsed) ?? null
      const column = metric === 'temperature' ? 0 : metric === null ? noColumn : customColumn
      const core = { condition: parsed, for_seconds: 0, keep_firing_seconds: 0, ...durations }
      evaluator.setRule({ id, version: 1, core, severity: 'warning', metric, column })
      evaluator.cover(id, isOfWhole(parsed) ? [0, ...devices] : devices)
      for (const number of devices) evaluator.setDevice({ number, ...never })
    },
    read(device: number, second: number, temperature = 20, receiptSecond = second, custom: Custom = {}) {
      evaluator.take(readingOf(device, msOf(second), msOf(receiptSecond), temperature, custom))
    },
    replay(device: number, second: number, temperature: number) {
      const reading = readingOf(device, msOf(second), msOf(nowSecond), temperature)
      evaluator.replay(reading, { warmBeforeUs: startMs * 1000 })
    },
    advance,
    /** Advances the time to this second and checks the pending writes. */
    at(t: Test, second: number, ...expected: string[]) {
      advance(second)
      t.strictSame(written(), expected)
    },
    written,
    outage(isOut: boolean, second: number) {
      evaluator.outage(isOut, msOf(second))
    },
  }
}

type Custom = Record<number, number>

function readingOf(device: number, timeMs: number, receiptMs: number, temperature: number, custom: Custom = {}) {
  return {
    device,
    timeUs: timeMs * 1000,
    receiptMs,
    value: column => (column === 0 ? temperature : Number.NaN),
    custom: series => custom[series] ?? Number.NaN,
  } satisfies EngineReading
}

const warm = { kind: 'above', metric: 'temperature', value: 30, hysteresis: 2 }

test('each rule is evaluated on the devices that it covers', async t => {
  const world = createWorld()
  world.rule(1, warm, [1, 2])
  world.rule(2, { ...warm, value: 40 }, [2, 3])
  for (const device of [1, 2, 3, 4]) world.read(device, 10, 35)
  t.strictSame(world.written(), ['1/1 opened 10', '1/1 fired 10', '1/2 opened 10', '1/2 fired 10'])
  for (const device of [1, 2, 3]) world.read(device, 20, 45)
  world.read(1, 30, 20)
  t.strictSame(world.written(), ['2/2 opened 20', '2/2 fired 20', '2/3 opened 20', '2/3 fired 20', '1/1 resolved 30'])
})

test('a custom metric is read from the series of the device', async t => {
  const world = createWorld()
  world.rule(1, { kind: 'below', metric: 'wind_speed', value: 3 }, [1])
  world.evaluator.cover(1, [1], [77])
  world.read(1, 10, 20, 10, { 76: 1 })
  t.strictSame(world.written(), [])
  world.read(1, 20, 20, 20, { 76: 9, 77: 1 })
  t.strictSame(world.written(), ['1/1 opened 20', '1/1 fired 20'])
})

test('erased values leave pending transitions, states of pairs, and samples', async t => {
  const { evaluator, ...world } = createWorld()
  world.rule(1, warm, [1, 2])
  world.rule(2, { kind: 'change', metric: 'temperature', value: 5, window_seconds: 600 }, [1, 2])
  for (const device of [1, 2]) world.read(device, 0, 35)
  evaluator.eraseValues([1, 2], 'humidity')
  evaluator.eraseValues([1], 'temperature')
  world.advance(1)
  const values = evaluator.takeTransitions(10, true).map(({ device, state, effects }) => {
    return [device, state.value, ...effects.flatMap(effect => ('value' in effect ? [effect.value] : []))].join(' ')
  })
  t.strictSame(values, ['1 NaN NaN', '2 35 35'])
  evaluator.uncover(1, [1, 2], 'not_selected', world.msOf(2))
  const ends = evaluator.takeTransitions(10).flatMap(({ effects }) => effects)
  t.match(ends, [
    { kind: 'resolved', value: Number.NaN },
    { kind: 'resolved', value: 35 },
  ])
  for (const device of [1, 2]) world.read(device, 600, 45)
  t.strictSame(world.written(), ['2/2 opened 600', '2/2 fired 600'], 'a change is measured by a sample that is left')
})

test('a short pending phase costs no transaction', async t => {
  const world = createWorld()
  world.rule(1, warm, [1, 2], { for_seconds: 60 })
  world.advance(10)
  world.read(1, 10, 35)
  world.read(2, 10, 35)
  world.advance(12)
  world.read(1, 12, 25)
  world.at(t, 14)
  world.at(t, 15, '1/2 opened 10')
  world.read(2, 70, 35)
  t.strictSame(world.written(), ['1/2 fired 70'])
})

test('a phase that ends and begins again in a moment is not written', async t => {
  const world = createWorld()
  world.rule(1, warm, [1], { keep_firing_seconds: 60 })
  world.advance(10)
  world.read(1, 10, 35)
  world.written()
  world.read(1, 11, 20)
  world.read(1, 12, 35)
  world.at(t, 60)
  world.read(1, 61, 20)
  world.at(t, 66, '1/1 clearing')
})

test('a device is silent from an interval after its last reading until the next one', async t => {
  const world = createWorld()
  world.rule(1, { kind: 'silent', after_seconds: 300 }, [1, 2])
  world.rule(2, { kind: 'silent' }, [1])
  world.read(1, 0)
  world.read(2, 200)
  world.at(t, 299)
  world.at(t, 300, '1/1 opened 300', '1/1 fired 300')
  world.at(t, 700, '1/2 opened 500', '1/2 fired 500', '2/1 opened 600', '2/1 fired 600')
  world.read(1, 701)
  t.strictSame(world.written(), ['1/1 resolved 701', '2/1 resolved 701'])
  world.at(t, 1001, '1/1 opened 1001', '1/1 fired 1001')
})

test('a device without readings or with its log switch off is not silent', async t => {
  const world = createWorld()
  world.rule(1, { kind: 'silent', after_seconds: 300 }, [1, 2])
  world.evaluator.setDevice({ number: 2, ...never, lastMs: startMs, lateSeconds: Number.POSITIVE_INFINITY })
  world.at(t, 1_000_000)
})

test('an outage of the service is not a silence of a device', async t => {
  const world = createWorld()
  world.rule(1, { kind: 'silent', after_seconds: 300 }, [1])
  world.read(1, 0)
  world.outage(true, 100)
  world.at(t, 5000)
  world.outage(false, 5000)
  // One interval with its grace, and the delay of the rule.
  world.at(t, 5000 + 120 + 299)
  world.at(t, 5000 + 120 + 300, '1/1 opened 5420', '1/1 fired 5420')
})

test('a pending silence ends with an outage of the service', async t => {
  const world = createWorld()
  world.rule(1, { kind: 'silent', after_seconds: 300 }, [1], { for_seconds: 100 })
  world.read(1, 0)
  world.advance(310)
  t.strictSame(world.written(true), ['1/1 opened 300'])
  world.outage(true, 320)
  world.outage(false, 390)
  world.at(t, 400, '1/1 dropped 300')
})

for (const [name, stepSeconds] of [
  ['back', -3600],
  ['forward', 3600],
] as const) {
  test(`our clock is set ${name} by an hour: no rule fires early`, async t => {
    const world = createWorld()
    world.rule(1, { kind: 'silent', after_seconds: 300 }, [1])
    world.rule(2, warm, [1, 2], { for_seconds: 600 })
    const begin = 10_000
    // The second device is stamped by a clock far ahead.
    const read = (second: number, temperature: number, ahead = 0) => {
      world.read(1, second, temperature)
      world.read(2, begin + 90_000 + second + ahead, temperature, second)
    }
    for (let second = begin; second < begin + 300; second += 60) {
      read(second, 35)
      world.advance(second)
    }
    t.ok(world.written(true).every(text => text.endsWith(`opened ${begin}`)))
    world.evaluator.clockStepped(stepSeconds * 1000, world.msOf(begin + 300 + stepSeconds))
    const found: string[] = []
    for (let second = begin + 300; second <= begin + 540; second += 60) {
      // The second device keeps its times. The first one follows our clock.
      world.read(2, begin + 90_000 + second + 7200, 35, second + stepSeconds)
      world.advance(second + stepSeconds)
      found.push(...world.written(true).filter(text => !text.includes('opened')))
    }
    t.notOk(found.some(text => text.includes('fired') && !text.startsWith('1/1')))
    world.read(2, begin + 90_000 + begin + 600 + 7200, 35, begin + 600 + stepSeconds)
    world.advance(begin + 600 + stepSeconds)
    t.match(world.written().join(), '2/2 fired')
  })
}

test('our clock is set back: later readings are not late', async t => {
  const world = createWorld()
  world.rule(1, warm, [1, 2])
  // The second device is stamped by a clock far ahead.
  world.read(1, 10_000, 35)
  world.read(2, 20_000, 35, 10_000)
  t.match(world.written().join(), /1\/1 fired.*1\/2 fired/)
  world.evaluator.clockStepped(-3_600_000, world.msOf(6400))
  world.read(1, 6401, 20)
  world.read(2, 19_000, 20, 6401)
  // An end is never before its beginning. A reading that is late by its own clock stays late.
  t.strictSame(world.written(), ['1/1 resolved 10000', '1/2 firing'])
  world.read(1, 6500, 35)
  t.match(world.written().join(), /1\/1 fired/)
})

test('our clock is set back: a later silence is notified in time', async t => {
  const world = createWorld()
  world.rule(1, { kind: 'silent', after_seconds: 300 }, [1])
  world.read(1, 10_000)
  world.advance(10_000)
  world.evaluator.clockStepped(-3_600_000, world.msOf(6400))
  world.at(t, 6400 + 120 + 299)
  world.at(t, 6400 + 120 + 301, '1/1 opened 6820', '1/1 fired 6820')
  world.read(1, 6900)
  t.strictSame(world.written(), ['1/1 resolved 6900'])
})

test('a site is one alert, and not before its state is known', async t => {
  const world = createWorld()
  world.outage(true, 0)
  world.outage(false, 0)
  world.rule(1, { kind: 'site_silent', share: 0.5, count: 2, after_seconds: 300 }, [1, 2, 3, 4])
  for (const device of [1, 2, 3, 4]) world.read(device, 10)
  world.advance(100)
  for (const device of [1]) world.read(device, 200)
  world.at(t, 309)
  world.at(t, 420, '1/0 opened 420', '1/0 fired 420')
  world.read(2, 430)
  world.at(t, 431, '1/0 resolved 431')
})

test('a silent site stays silent over a restart, until enough of its devices report', async t => {
  const world = createWorld()
  const condition = { kind: 'site_silent', share: 0.5, count: 1, after_seconds: 300 }
  world.rule(1, condition, [1, 2])
  for (const device of [1, 2]) world.read(device, 10)
  world.advance(1000)
  const [fired] = world.evaluator.takeTransitions(10)
  const next = createWorld()
  next.outage(true, 2000)
  next.rule(1, condition, [1, 2])
  next.evaluator.restore(1, 0, (fired as NonNullable<typeof fired>).state)
  next.outage(false, 2000)
  for (const number of [1, 2]) {
    next.evaluator.setDevice({ number, ...never, lastMs: startMs + 10_000, seenUs: (startMs + 10_000) * 1000 })
  }
  next.at(t, 2001)
  next.at(t, 3000)
  next.read(1, 3001)
  next.at(t, 3002, '1/0 resolved 3002')
})

test('pairs that a rule no longer covers end, and leave no state', async t => {
  const world = createWorld()
  world.rule(1, warm, [1, 2])
  world.rule(2, { kind: 'silent', after_seconds: 300 }, [1])
  world.read(1, 10, 35)
  world.read(2, 10, 35)
  world.written()
  world.evaluator.uncover(1, [1], 'not_selected', world.msOf(20))
  t.strictSame(world.written(), ['1/1 resolved 20'])
  world.evaluator.removeRule(1, 'rule_removed', world.msOf(21))
  world.evaluator.removeRule(2, 'rule_removed', world.msOf(21))
  world.at(t, 10_000, '1/2 resolved 21')
  t.equal(world.evaluator.pairCount, 0)
  world.read(1, 10_001, 35)
  t.strictSame(world.written(), [])
})

test('open pairs that are no longer covered end with the next start', async t => {
  const world = createWorld()
  world.rule(1, warm, [1, 2])
  for (const device of [1, 2]) world.read(device, 10, 35)
  const rows = world.evaluator.takeTransitions(10)
  const next = createWorld()
  next.outage(true, 100)
  next.rule(1, warm, [1])
  for (const { rule, device, state } of rows) next.evaluator.restore(rule, device, state)
  next.evaluator.restore(7, 1, idlePair)
  t.strictSame(next.written(), ['1/2 resolved 100'])
  t.equal(next.evaluator.pairCount, 1)
})

test('idle pairs take less than 300 bytes each', async t => {
  const evaluator = new Evaluator()
  const devices = Array.from({ length: 50_000 }, (_, index) => index + 1)
  const before = memoryUsed()
  for (const id of [1, 2, 3, 4]) {
    const condition = Condition.parse(id > 2 ? { kind: 'silent' } : warm)
    const core = { condition, for_seconds: 0, keep_firing_seconds: 0 }
    const column = id > 2 ? noColumn : 0
    evaluator.setRule({ id, version: 1, core, severity: 'info', metric: null, column })
    evaluator.cover(id, devices)
  }
  for (const number of devices) {
    evaluator.setDevice({ number, lateSeconds: 600, freshSeconds: 120, lastMs: startMs, seenUs: startMs * 1000 })
  }
  for (const device of devices) evaluator.take(readingOf(device, startMs + 1000, startMs + 1000, 20))
  evaluator.advance(startMs + 2000)
  const bytes = memoryUsed() - before
  t.equal(evaluator.pairCount, 200_000)
  t.ok(bytes / 200_000 < 300, `${Math.round(bytes / 200_000)} bytes`)
})

test('a late reading that would have changed a pair has no effect, also after a restart', async t => {
  const world = createWorld()
  world.rule(1, warm, [1, 2])
  world.advance(0)
  world.read(1, 100, 20)
  world.read(2, 100, 35)
  t.strictSame(world.written(), ['1/2 opened 100', '1/2 fired 100'])
  world.read(2, 400, 35)
  // Both devices get history. The second one also some without news.
  for (const second of [40, 50]) world.read(1, second, 35, 410)
  world.read(1, 60, 20, 410)
  world.read(2, 200, 34, 410)
  const noted = world.evaluator.takeTransitions(10)
  t.match(noted, [{ device: 1, effects: { length: 0 }, state: { phase: 'idle', seenUs: world.msOf(100) * 1000 } }])
  world.read(2, 300, 20, 410)
  const more = world.evaluator.takeTransitions(10)
  t.match(more, [{ device: 2, effects: { length: 0 }, state: { phase: 'firing', seenUs: world.msOf(400) * 1000 } }])
  t.strictSame([noted.length, more.length], [1, 1])

  const next = createWorld()
  next.rule(1, warm, [1, 2])
  for (const { rule, device, state } of [...noted, ...more]) next.evaluator.restore(rule, device, state)
  const replayed = { 1: { 40: 35, 50: 35, 60: 20, 100: 20 }, 2: { 100: 35, 200: 34, 300: 20, 400: 35 } }
  for (const [device, values] of Object.entries(replayed)) {
    for (const [second, value] of Object.entries(values)) next.replay(Number(device), Number(second), value)
  }
  t.strictSame(next.written(true), [])
  next.read(1, 500, 35)
  next.read(2, 500, 20)
  t.strictSame(next.written(), ['1/1 opened 500', '1/1 fired 500', '1/2 resolved 500'])

  const old = createWorld()
  old.rule(1, warm, [1])
  old.advance(10_000)
  old.read(1, 10_000, 20)
  old.read(1, 10_000 - 1300, 35, 10_000)
  t.strictSame(old.written(true), [], 'readings that no start repeats are not recorded')
})
