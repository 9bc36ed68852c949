import fc from 'fast-check'
import { test } from 'tap'
import { bounds } from '../../../alerts/core/bounds.ts'
import { Condition } from '../../../alerts/core/condition.ts'
import { pairFromJson, pairToJson } from '../../../alerts/core/pair.ts'
import { memoryMs } from '../../../alerts/core/samples.ts'
import { Engine, type EngineMessage, type RestoredPair } from '../../../alerts/engine/engine.ts'
import { type PackedReadings, ReadingsBuffer } from '../../../alerts/engine/packed-readings.ts'
import { runs } from '../../support/runs.ts'

/** A reading with its receipt. The process may be killed before it, and may have committed its state by then. */
interface Came {
  device: number
  timeMs: number
  receiptMs: number
  value: number
  isKilled: boolean
  isCommitted: boolean
}

const startMs = Date.UTC(2026, 0, 1)
const devices = [1, 2, 3]
const ruleOf = (id: number, condition: object, for_seconds: number, keep_firing_seconds: number) => {
  const core = { condition: Condition.parse({ metric: 'temperature', ...condition }), for_seconds, keep_firing_seconds }
  return { id, version: 1, core, severity: 'info' as const, metric: 'temperature', column: 0 }
}
const rules = [
  ruleOf(1, { kind: 'above', value: 30, hysteresis: 2 }, 0, 0),
  ruleOf(2, { kind: 'below', value: 26, hysteresis: 0 }, 300, 0),
  ruleOf(3, { kind: 'above', value: 28, hysteresis: 0 }, 60, 600),
  ruleOf(4, { kind: 'change', value: 4, window_seconds: 1200 }, 0, 120),
]
const slackMs = bounds.replaySlackMs

/** The contents of PostgreSQL. */
const createDisk = () => ({ pairs: new Map<string, RestoredPair>(), events: [] as string[], untilMs: startMs })

function pack(readings: readonly Came[], receiptOf = (came: Came) => came.receiptMs): PackedReadings {
  const buffer = new ReadingsBuffer()
  for (const came of readings) {
    buffer.addStored(came.device, came.timeMs * 1000, receiptOf(came), column =>
      column === 0 ? came.value : Number.NaN,
    )
  }
  return buffer.take()
}

function startEngine(disk: ReturnType<typeof createDisk>, stored: readonly Came[], nowMs: number) {
  const sent: Extract<EngineMessage, { kind: 'transitions' }>[] = []
  let evaluatedMs = Number.NaN
  const engine = new Engine({
    post(message) {
      if (message.kind === 'transitions') sent.push(message)
      if (message.kind === 'state' && sent.length === 0) evaluatedMs = message.state.untilMs
    },
    later: call => call(),
  })
  engine.take({ kind: 'outage', isOut: true, nowMs })
  for (const rule of rules) {
    engine.take({ kind: 'rule', rule })
    engine.take({ kind: 'cover', id: rule.id, devices: devices })
  }
  engine.take({ kind: 'restore', pairs: [...disk.pairs.values()] })
  const fromMs = disk.untilMs - slackMs
  const replayed = stored.filter(({ timeMs }) => timeMs >= fromMs - memoryMs(1_200_000))
  const inOrder = replayed.toSorted((a, b) => a.timeMs - b.timeMs)
  engine.take({ kind: 'replay', packed: pack(inOrder, () => nowMs), warmBeforeUs: fromMs * 1000 })
  for (const device of devices) {
    const lastMs = Math.max(...stored.filter(came => came.device === device).map(({ timeMs }) => timeMs))
    const facts = [{ number: device, seenUs: lastMs * 1000, lastMs, lateSeconds: 600, freshSeconds: 120 }]
    if (Number.isFinite(lastMs)) engine.take({ kind: 'devices', facts })
  }
  engine.take({ kind: 'outage', isOut: false, nowMs })

  function commit(): void {
    for (let message = sent.shift(); message !== undefined; message = sent.shift()) {
      for (const { rule, device, effects, state } of message.transitions) {
        const json = JSON.parse(JSON.stringify(pairToJson(state)))
        disk.pairs.set(`${rule} ${device}`, { rule, device, state: pairFromJson(json) })
        const shown = effects.filter(({ kind }) => kind !== 'opened' && kind !== 'dropped')
        disk.events.push(...shown.map(({ kind, atMs }) => `${rule}/${device} ${kind} ${(atMs - startMs) / 1000}`))
      }
      if (Number.isFinite(message.state.untilMs)) disk.untilMs = message.state.untilMs
      engine.take({ kind: 'applied' })
    }
    if (Number.isFinite(evaluatedMs)) disk.untilMs = evaluatedMs
  }
  return { engine, commit }
}

function run(history: readonly Came[], areKilled: boolean): string[] {
  const disk = createDisk()
  let { engine, commit } = startEngine(disk, [], startMs)
  history.forEach((came, index) => {
    if (came.isKilled && areKilled) {
      const stored = history.slice(0, index)
      ;({ engine, commit } = startEngine(disk, stored, came.receiptMs - 1))
    }
    engine.take({ kind: 'readings', packed: pack([came]), untilMs: came.receiptMs })
    if (came.isCommitted || !areKilled) commit()
  })
  engine.take({ kind: 'flush' })
  commit()
  return disk.events.toSorted((a, b) => a.localeCompare(b))
}

const histories = fc
  .array(
    fc.record({
      device: fc.constantFrom(...devices),
      gapSeconds: fc.integer({ min: 1, max: 120 }),
      delaySeconds: fc.integer({ min: 0, max: 2 }),
      value: fc.integer({ min: 22, max: 34 }),
      isKilled: fc.integer({ min: 0, max: 7 }).map(number => number === 0),
      isCommitted: fc.boolean(),
    }),
    { maxLength: 120, size: 'max' },
  )
  .map(list => {
    let timeMs = startMs
    return list.map(({ gapSeconds, delaySeconds, ...came }): Came => {
      timeMs += gapSeconds * 1000
      return { ...came, timeMs: timeMs - delaySeconds * 200, receiptMs: timeMs }
    })
  })

test('kills at any time change no notification: none is lost and none is repeated', async () => {
  fc.assert(
    fc.property(histories, history => {
      const [killed, unharmed] = [run(history, true), run(history, false)]
      if (killed.join() !== unharmed.join()) throw new Error(`${killed.join()}\n${unharmed.join()}`)
    }),
    { ...runs(15, 500), endOnFailure: true },
  )
})
