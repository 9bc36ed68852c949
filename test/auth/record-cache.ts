/** Records in memory: read once, evicted by a change, unavailable while in doubt, and saved with their last-seen time. */

import t from 'tap'
import { createLastSeen, type SeenRecord } from '../../auth/last-seen.ts'
import { createReadCache } from '../../auth/read-cache.ts'
import { createRecordCache } from '../../auth/record-cache.ts'
import { OutcomeUnknown } from '../../store/postgres/postgres-errors.ts'
import { until } from '../support/processes.ts'

const inDoubt = (transaction = '7') => new OutcomeUnknown(transaction, new Error('gone'))
const unconfirmed = { message: /not confirmed/ }
const doubtful = { message: /did not confirm/ }

function setUp() {
  const state = { value: 1, reads: 0, ended: false }
  const gates: (() => void)[] = []
  const openGates = () => {
    for (const open of gates.splice(0)) open()
  }
  const cache = createRecordCache<string, { value: number }>({
    recordsMax: 10,
    async read() {
      state.reads += 1
      const { value } = state
      if (gates.length > 0) await new Promise<void>(resolve => gates.push(resolve))
      return { value }
    },
    hasEnded: async () => state.ended,
  })
  return { state, cache, gates, openGates }
}

t.test('a record is read once, and again after a change, but not after a failed one', async t => {
  const { state, cache } = setUp()
  await Promise.all([cache.get('a'), cache.get('a'), cache.get('a')])
  t.match([await cache.get('a'), state.reads], [{ value: 1 }, 1])
  const done = await cache.change('a', async () => {
    state.value = 2
    return 'done'
  })
  t.match([done, await cache.get('a'), state.reads], ['done', { value: 2 }, 2])
  const failing = cache.change('a', async () => Promise.reject(new Error('no')))
  await t.rejects(failing, { message: 'no' })
  t.match([await cache.get('a'), state.reads], [{ value: 2 }, 2])
})

t.test('a wait for a read that began before a change returns the new record', async t => {
  const { state, cache, gates, openGates } = setUp()
  gates.push(() => undefined)
  const waiting = [cache.get('a'), cache.get('a')]
  await cache.change('a', async () => {
    state.value = 2
  })
  openGates()
  t.match(await Promise.all(waiting), [{ value: 2 }, { value: 2 }])
  t.match([await cache.get('a'), state.reads], [{ value: 2 }, 2], 'all of them by one more read')
})

t.test('a read fails when the outcome of a change becomes unknown', async t => {
  const { state, cache, gates, openGates } = setUp()
  gates.push(() => undefined)
  const waiting = t.rejects(cache.get('a'), unconfirmed)
  await t.rejects(
    cache.change('a', () => Promise.reject(inDoubt())),
    doubtful,
  )
  openGates()
  await waiting
  state.ended = true
  state.value = 2
  t.match(await cache.get('a'), { value: 2 })
})

t.test('a record is unavailable while the outcome of a change is unknown', async t => {
  const { state, cache } = setUp()
  await cache.get('a')
  await t.rejects(
    cache.change('a', () => Promise.reject(inDoubt())),
    doubtful,
  )
  await t.rejects(cache.get('a'), unconfirmed)
  const change = cache.change('a', async () => 1)
  await t.rejects(change, unconfirmed)
  t.match(await cache.get('b'), { value: 1 }, 'others are not concerned')
  state.ended = true
  state.value = 2
  t.match(await Promise.all([cache.get('a'), cache.get('a')]), [{ value: 2 }, { value: 2 }])
})

t.test('a second change in doubt is queried too, at any time', async t => {
  const asked: { transaction: string; answer: (hasEnded: boolean) => void }[] = []
  const cache = createRecordCache<string, { value: number }>({
    recordsMax: 10,
    read: async () => ({ value: 1 }),
    hasEnded: transaction => new Promise(answer => asked.push({ transaction, answer })),
  })
  const begin = (transaction: string) => {
    const outcome = Promise.withResolvers<never>()
    const change = cache.change('a', () => outcome.promise)
    return async () => {
      outcome.reject(inDoubt(transaction))
      await t.rejects(change, doubtful)
    }
  }
  const answer = async (hasEnded: boolean) => {
    asked.shift()?.answer(hasEnded)
    // The cache processes the response first.
    await new Promise(resolve => setImmediate(resolve))
  }
  const [failFirst, failSecond, failThird] = [begin('1'), begin('2'), begin('3')]
  await failFirst()
  const waiting = cache.get('a')
  await failSecond()
  await answer(true)
  t.match(asked, [{ transaction: '2' }], 'the first one has ended')
  const besides = cache.change('a', async () => 1)
  await answer(true)
  t.match(await waiting, { value: 1 })
  await failThird()
  await answer(true)
  t.match(asked, [{ transaction: '3' }], 'that the second one has ended says nothing of the third')
  const refused = t.rejects(besides, unconfirmed)
  await answer(false)
  await refused
})

t.test('absence is cached for a while, and evicts no record', async t => {
  let nowMs = 0
  let reads = 0
  const cache = createReadCache<string, { key: string }>({
    recordsMax: 1,
    async read(key) {
      reads += 1
      return key === 'a' ? { key } : undefined
    },
    absent: { keysMax: 2, lifetimeMs: 5, nowMs: () => nowMs },
  })
  await cache.get('a')
  for (let at = 0; at < 3; at++) t.equal(await cache.get('b'), undefined)
  t.equal(reads, 2)
  t.match([await cache.get('a'), reads], [{ key: 'a' }, 2])
  nowMs = 5
  await cache.get('b')
  t.equal(reads, 3)
  for (const key of ['c', 'd', 'b']) await cache.get(key)
  t.equal(reads, 6, 'it is bounded')
  cache.forget('b')
  await cache.get('b')
  t.equal(reads, 7)
})

const record = (): SeenRecord => ({ lastSeenMs: 0, seenUnsaved: false })
const bounds = { flushMs: 1, batchMax: 2, unsavedMax: 10 }

t.test('a record seen often is saved once, with its last time, and again after a failure', async t => {
  const saved: number[][] = []
  const faults: unknown[] = []
  let isAway = true
  const lastSeen = createLastSeen<SeenRecord>({
    async save(_records, timesMs) {
      if (isAway) throw new Error('away')
      saved.push(timesMs)
    },
    failed: error => faults.push(error),
    ...bounds,
  })
  const records = [record(), record(), record()] as const
  for (const timeMs of [5, 7, 6]) for (const one of records) lastSeen.seen(one, timeMs)
  await until('a save has failed', () => faults.length > 0)
  isAway = false
  await until('all are saved', () => saved.length === 2)
  t.strictSame(saved, [[7, 7], [7]])
  t.strictSame([...new Set(faults.map(String))], ['Error: away'])
  lastSeen.seen(records[1], 7)
  lastSeen.seen(records[2], 8)
  await lastSeen.close()
  t.strictSame(saved, [[7, 7], [7], [8]])
})

t.test('a record seen during its save is saved again', async t => {
  const saved: number[][] = []
  const saving = Promise.withResolvers<void>()
  const lastSeen = createLastSeen<SeenRecord>({
    async save(_records, timesMs) {
      saved.push(timesMs)
      await saving.promise
    },
    failed: error => t.fail(String(error)),
    ...bounds,
  })
  const one = record()
  lastSeen.seen(one, 5)
  await until('it is being saved', () => saved.length === 1)
  for (const timeMs of [6, 7]) lastSeen.seen(one, timeMs)
  saving.resolve()
  await lastSeen.close()
  t.strictSame(saved, [[5], [7]])
})
