import pg from 'pg'
import { test } from 'tap'
import { idlePair } from '../../../alerts/core/pair.ts'
import { BatchWriter, type EngineStore } from '../../../alerts/engine/batch-writer.ts'
import type { Transition } from '../../../alerts/store/apply.ts'
import { silentLog } from '../../support/databases.ts'
import { waitFor } from '../../support/wait-for.ts'

function transitionOf(device: number): Transition {
  const effects = [{ kind: 'fired' as const, atMs: 0, value: 1 }]
  return { rule: 1, ruleVersion: 1, device, metric: null, severity: 'info', effects, state: idlePair }
}

function errorOf(code: string): Error {
  return Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code })
}

/** A store that rejects some devices, with a log of the applied lots. */
function createWriter(refuses: (devices: readonly number[], attempt: number) => Error | undefined) {
  const batches: { batch: number; devices: number[]; until: number | undefined }[] = []
  const attempts: number[] = []
  const store: EngineStore = {
    async apply({ batch, transitions, evaluatedUntilMs }) {
      const devices = transitions.map(({ device }) => device)
      attempts.push(batch)
      const error = refuses(devices, attempts.length)
      if (error !== undefined) throw error
      batches.push({ batch, devices, until: evaluatedUntilMs })
      return { unknownRules: devices.filter(device => device === 7) }
    },
    async writeEvaluatedUntil() {},
  }
  const applied: number[][] = []
  const { signal } = new AbortController()
  const onApplied = (unknownRules: readonly number[]) => void applied.push([...unknownRules])
  const writer = new BatchWriter({ store, log: silentLog, lastBatch: 10, applied: onApplied, signal, retryMs: 10 })
  const write = async (devices: readonly number[], untilMs: number) => {
    const expected = applied.length + 1
    writer.write(devices.map(transitionOf), untilMs)
    await waitFor('it is applied', () => applied.length === expected)
  }
  return { writer, write, batches, attempts, applied }
}

test('transitions rejected by PostgreSQL for their content are left out, without delaying others', async t => {
  const { writer, write, batches, applied } = createWriter(devices =>
    devices.includes(3) ? errorOf('22003') : undefined,
  )
  await write([1, 2, 3, 4, 5, 6, 7, 8], 500)
  // The last lot carries the time up to which all is evaluated.
  t.strictSame(
    batches.map(({ devices, until }) => `${devices.join()} ${until}`),
    ['1,2 undefined', '4 undefined', '5,6,7,8 500'],
  )
  const numbers = batches.map(({ batch }) => batch)
  const increase = numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0))
  t.ok(increase, 'each has a number of its own')
  t.strictSame(applied, [[7]])
  t.equal(writer.refused, 1)
  t.equal(writer.pending, 0)
  await write([3], 600)
  t.equal(writer.refused, 2)
  await write([9], 700)
  t.strictSame(batches.at(-1)?.devices, [9])
})

test('a lot that PostgreSQL cannot store at present is sent again under the same number', async t => {
  for (const code of ['57P03', '53100', '42P01']) {
    const { writer, write, attempts } = createWriter((_, attempt) => (attempt < 4 ? errorOf(code) : undefined))
    await write([1, 2], 500)
    t.strictSame(attempts, [11, 11, 11, 11], code)
    t.equal(writer.refused, 0)
  }
})

test('lots are written one after the other, and all lots in flight are counted', async t => {
  const { writer, batches } = createWriter(() => undefined)
  writer.write([1, 2].map(transitionOf), 500)
  writer.write([3].map(transitionOf), 600)
  t.equal(writer.pending, 3)
  await waitFor('both are applied', () => writer.pending === 0)
  t.strictSame(batches, [
    { batch: 11, devices: [1, 2], until: 500 },
    { batch: 12, devices: [3], until: 600 },
  ])
})
