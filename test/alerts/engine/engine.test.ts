import { test } from 'tap'
import { Condition } from '../../../alerts/core/condition.ts'
import { noColumn } from '../../../alerts/engine/covered-pairs.ts'
import { Engine, type EngineMessage } from '../../../alerts/engine/engine.ts'

test('a second lot in flight has to be full', async t => {
  const lots: number[] = []
  const engine = new Engine({
    post(message: EngineMessage) {
      if (message.kind === 'transitions') lots.push(message.transitions.length)
    },
    later: call => call(),
  })
  const numbers = Array.from({ length: 12_000 }, (_, index) => index + 1)
  const core = { condition: Condition.parse({ kind: 'silent' }), for_seconds: 0, keep_firing_seconds: 0 }
  engine.take({
    kind: 'rule',
    rule: { id: 1, version: 1, core, severity: 'info', metric: null, column: noColumn },
  })
  engine.take({ kind: 'cover', id: 1, devices: numbers })
  const facts = numbers.map(number => ({ number, seenUs: 0, lastMs: 0, lateSeconds: 10, freshSeconds: 0 }))
  engine.take({ kind: 'devices', facts })
  const look = (untilMs: number) => {
    engine.take({ kind: 'readings', packed: new Float64Array(0), untilMs })
  }
  look(20_000)
  look(20_100)
  look(20_200)
  t.strictSame(lots, [5000, 5000])
  engine.take({ kind: 'applied' })
  t.strictSame(lots, [5000, 5000], 'the rest is not a full one')
  engine.take({ kind: 'applied' })
  t.strictSame(lots, [5000, 5000, 2000])
})
