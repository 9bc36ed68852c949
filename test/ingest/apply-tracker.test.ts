import { test } from 'tap'
import { ApplyTracker } from '../../ingest/forwarder/apply-tracker.ts'
import type { TableState } from '../../ingest/forwarder/table-state.ts'

const at = (live: number, backfill = live) => ({ live, backfill, liveOrdinal: live, backfillOrdinal: backfill })
const state = (sequencerTxn: number, writerTxn: number): TableState[] => [
  { sequencerTxn, writerTxn, suspended: false, errorMessage: '' },
]

function openTracker(from = at(0)) {
  const revisions = new Int32Array(10)
  return { revisions, applyTracker: new ApplyTracker(revisions, from, () => undefined) }
}

test('a state in which less is sent than is applied stops the work, and says with which values', async t => {
  const { applyTracker } = openTracker(at(100, 50))
  const message = 'BUG: sent up to 90 and 50, applied up to 100 and 50'
  t.throws(() => applyTracker.mark(at(90, 50)), { message })
})

test('a device whose rows are taken while the query is in flight is dirty until the next answer', async t => {
  const { revisions, applyTracker } = openTracker()
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
  const { revisions, applyTracker } = openTracker()
  applyTracker.markDirty(1)
  applyTracker.mark(at(100))
  applyTracker.rewind(at(0))
  t.equal(revisions[1], 1, 'what is shown of it may have gone')
  for (const count of [1, 2]) {
    const device = count + 1
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
  const { applyTracker } = openTracker()
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
