import { test } from 'tap'
import { ApplyTracker } from '../../ingest/forwarder/apply-tracker.ts'
import type { TableState } from '../../ingest/forwarder/table-state.ts'

const at = (position: number) => ({
  live: position,
  backfill: position,
  liveOrdinal: position,
  backfillOrdinal: position,
})
const state = (sequencerTxn: number, writerTxn: number): TableState[] => [
  { sequencerTxn, writerTxn, suspended: false, errorMessage: '' },
]

test('what was sent counts as applied when the writer has come to the state that was asked for after it', async t => {
  const revisions = new Int32Array(10)
  const applyTracker = new ApplyTracker(revisions, at(0), () => undefined)
  applyTracker.markDirty(1)
  applyTracker.mark(at(100))
  t.equal(applyTracker.observe(state(5, 4)), 'nothing')
  t.equal(applyTracker.position, 0)
  t.equal(applyTracker.observe(state(7, 5)), 'applied', 'later transactions need not be waited for')
  t.equal(applyTracker.position, 100)
  t.equal(revisions[1], 1)
  t.equal(applyTracker.observe(state(4, 4)), 'lost', 'the sequencer went back')
})

test('a device whose rows are taken while the query is in flight is dirty until the next answer', async t => {
  const revisions = new Int32Array(10)
  const applyTracker = new ApplyTracker(revisions, at(0), () => undefined)
  applyTracker.markDirty(1)
  applyTracker.mark(at(100))
  applyTracker.markDirty(2)
  t.equal(applyTracker.observe(state(5, 5)), 'applied')
  t.strictSame([revisions[1], revisions[2]], [1, 0])
  applyTracker.mark(at(200))
  t.equal(applyTracker.observe(state(6, 6)), 'applied')
  t.strictSame([revisions[1], revisions[2]], [1, 1])
})

test('after a rewind devices become dirty as before', async t => {
  const revisions = new Int32Array(10)
  const applyTracker = new ApplyTracker(revisions, at(0), () => undefined)
  applyTracker.markDirty(1)
  applyTracker.mark(at(100))
  applyTracker.rewind(at(0))
  t.equal(revisions[1], 1, 'what is shown of it may have gone')
  for (const [count, device] of [
    [1, 2],
    [2, 3],
  ] as const) {
    applyTracker.markDirty(device)
    applyTracker.mark(at(100 * count))
    applyTracker.markDirty(device + 2)
    t.equal(applyTracker.observe(state(count, count)), 'applied')
    t.equal(revisions[device], 1)
    t.equal(revisions[device + 2], 0)
    applyTracker.mark(at(100 * count + 50))
    t.equal(applyTracker.observe(state(count, count)), 'applied')
    t.equal(revisions[device + 2], 1)
  }
})

test('with two tables, what was sent counts as applied when both writers have come as far, and lost when one is behind', async t => {
  const applyTracker = new ApplyTracker(new Int32Array(10), at(0), () => undefined)
  const states = (first: [number, number], second: [number, number]) => [...state(...first), ...state(...second)]
  applyTracker.mark(at(100))
  t.equal(applyTracker.observe(states([5, 5], [9, 8])), 'nothing', 'the second is not there')
  t.equal(applyTracker.observe(states([6, 4], [9, 9])), 'nothing', 'the first has gone back')
  t.equal(applyTracker.position, 0)
  t.equal(applyTracker.observe(states([6, 5], [9, 9])), 'applied')
  t.equal(applyTracker.position, 100)
  t.equal(applyTracker.observe(states([6, 6], [8, 8])), 'lost')
  applyTracker.rewind(at(100))
  t.equal(applyTracker.observe(states([1, 1], [1, 1])), 'nothing', 'two new tables')
})
