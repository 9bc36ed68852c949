/** Positions of the forwarder: applied rows, QuestDB's record of them, and the reaction to a difference. */

import t, { test } from 'tap'
import { PositionRecorder } from '../../ingest/forwarder/applied-positions.ts'
import { ApplyTracker } from '../../ingest/forwarder/apply-tracker.ts'
import { isAccepted, type JournalPlace, judgePosition, verdictText } from '../../ingest/forwarder/settle-position.ts'
import type { TableState } from '../../ingest/forwarder/table-state.ts'
import { lostIn } from '../../ingest/kafka/state/lost-replicas.ts'

const at = (live: number, backfill = live) => ({ live, backfill, liveOrdinal: live, backfillOrdinal: backfill })
const state = (sequencerTxn: number, writerTxn: number): TableState[] => [
  { sequencerTxn, writerTxn, suspended: false, errorMessage: '' },
]

function openTracker(from = at(0)) {
  const revisions = new Int32Array(10)
  return { revisions, applyTracker: new ApplyTracker(revisions, from, () => undefined) }
}

test('a state with less sent than applied stops the work and reports both values', async t => {
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

test('with two tables, sent rows are applied when both writers show them, lost when one is behind', async t => {
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

/** QuestDB keeps the position of an INSERT, and shows it while `shows` is set. */
function open(placeOf: (position: number) => number | undefined) {
  const questdb = { inserted: [] as number[], shows: true, isAway: false, onLook: () => {} }
  let nowMs = 0
  const recorder = new PositionRecorder({
    id: 'journal',
    async exec(sql) {
      if (questdb.isAway) throw new Error('away')
      const [, position] = /journal, (\d+), whole_from/.exec(sql) ?? []
      if (position === undefined) questdb.onLook()
      else questdb.inserted.push(Number(position))
      const last = questdb.inserted.at(-1)
      return questdb.shows && last !== undefined ? [[last]] : []
    },
    placeOf,
    from: 0,
    place: 0,
    nowMs: () => 0,
    timing: {
      monotonicMs: () => nowMs,
      after(_ms, work) {
        work()
        return () => undefined
      },
    },
  })
  async function record(position: number): Promise<unknown[]> {
    nowMs += 1000
    await recorder.record(position, [1, 1])
    return [recorder.position, recorder.place, questdb.inserted.at(-1)]
  }
  return { questdb, recorder, record }
}

t.test('nothing counts as recorded that QuestDB does not show', async t => {
  const { questdb, record } = open(position => position)
  questdb.shows = false
  t.strictSame(await record(100), [0, 0, 100])
  questdb.shows = true
  t.strictSame(await record(200), [100, 100, 100])
  t.strictSame(await record(200), [200, 200, 200])
  questdb.isAway = true
  await t.rejects(record(300), /away/)
})

t.test('a place that falls as more is fetched is not written, until rows are sent again', async t => {
  let placeOf = (position: number) => position / 50
  const { recorder, record } = open(position => placeOf(position))
  t.strictSame(await record(100), [100, 2, 2])
  placeOf = position => (position < 200 ? 0 : 4)
  t.strictSame(await record(100), [100, 2, 2])
  t.strictSame(await record(200), [200, 4, 4])
  placeOf = position => position / 50
  recorder.rewind(50)
  t.strictSame([recorder.position, recorder.place], [50, 1])
  t.strictSame(await record(100), [100, 2, 2])
})

t.test('a position that QuestDB shows after a rewind is not recorded', async t => {
  const { questdb, recorder, record } = open(position => position)
  questdb.onLook = () => recorder.rewind(50)
  t.strictSame(await record(100), [0, 0, 100])
  questdb.onLook = () => {}
  t.strictSame(await record(60), [60, 60, 60])
})

const place: JournalPlace = { committed: 1000, start: 900, sinceMs: 1_000, untilMs: 9_000 }
const recordedAt = (position: number, wholeFrom = 0) => ({ position, wholeFrom, recordedMs: 5_000 })
const lostVerdict = { kind: 'lost', toMs: 9_000, isOfOthers: false }

const cases: [string, Parameters<typeof judgePosition>[0]['applied'], Partial<JournalPlace>, object][] = [
  ['all that was committed', recordedAt(1000), {}, { kind: 'whole' }],
  ['more than was committed, as after a kill', recordedAt(1010), {}, { kind: 'whole' }],
  ['sent again, and not yet all of it', recordedAt(1000, 2000), {}, { kind: 'filling' }],
  ['sent again', recordedAt(2000, 2000), {}, { kind: 'whole' }],
  ['an older copy, and the journal has the rest', recordedAt(950), {}, { kind: 'again', from: 950, isMissing: true }],
  ['the copy ends where the journal begins', recordedAt(900), {}, { kind: 'again', from: 900, isMissing: true }],
  ['an older copy, and the journal has not all', recordedAt(899), {}, { ...lostVerdict, fromMs: 5_000 }],
  ['empty, and the journal has all', undefined, { start: 0 }, { kind: 'again', from: 0, isMissing: true }],
  ['empty, and the journal has not all', undefined, {}, { ...lostVerdict, fromMs: 1_000 }],
  [
    'empty before anything was committed',
    undefined,
    { committed: 0, start: 0 },
    { kind: 'again', from: 0, isMissing: false },
  ],
]
for (const [name, applied, own, wanted] of cases) {
  t.strictSame(judgePosition({ applied, isOfOthers: false }, { ...place, ...own }), wanted, name)
}

const others = judgePosition({ applied: undefined, isOfOthers: true }, { ...place, start: 0 })
t.strictSame(
  others,
  { ...lostVerdict, fromMs: 1_000, isOfOthers: true },
  'nothing is sent to the QuestDB of another service',
)

t.equal(verdictText('points', { kind: 'whole' }), undefined)
t.equal(verdictText('points', { kind: 'again', from: 0, isMissing: false }), undefined)
t.equal(
  verdictText('readings', { kind: 'lost', fromMs: 0, toMs: 86_400_999, isOfOthers: false }),
  'QuestDB is empty or an older copy: it lacks readings that were received from 1970-01-01T00:00:00Z to 1970-01-02T00:00:00Z. ' +
    'Readings wait in the journal: put its files back, or set QUESTDB_ACCEPT_LOSS=1970-01-02T00:00:00Z to go on without them',
)

const loss = { kind: 'lost', fromMs: 0, toMs: 86_400_999, isOfOthers: false } as const
t.ok(isAccepted(loss, 86_400_000), 'the time that the text names')
t.notOk(isAccepted(loss, 86_399_000), 'an earlier loss')
t.notOk(isAccepted(loss, undefined))

const hourMs = 3_600_000
const nowMs = Date.UTC(2026, 0, 10)

interface State {
  /** Offsets, by number less 1. */
  shown: (number | undefined)[]
  /** First offset of the topic. */
  start?: number
  /** The age of each record in Kafka. */
  ageMs?: number
  /** A replica that is lost already. */
  lost?: number
}

async function lost({ shown, start = 0, ageMs = 0, lost }: State): Promise<number[]> {
  const fetched: number[] = []
  const found = await lostIn(
    {
      topic: 'readings',
      partition: {
        offsets: async () => ({ start, end: 100 }),
        async fetch(offset) {
          fetched.push(offset)
          return { records: [{ offset, appendedMs: nowMs - ageMs }], nextOffset: offset + 1 } as never
        },
      },
      replicas: shown.map((offset, at) => ({
        number: at + 1,
        shown: () => offset,
        lost: () => (lost === at + 1 ? 'why' : undefined),
      })),
      retentionMs: () => 10 * hourMs,
    },
    nowMs,
  )
  t.ok(
    fetched.every(offset => offset >= start),
    'no deleted record is asked for',
  )
  return found.map(([replica]) => replica)
}

t.test('a replica is lost when it lacks records that are older than half of the retention', async t => {
  t.strictSame(await lost({ shown: [100, 40], ageMs: 4 * hourMs }), [])
  t.strictSame(await lost({ shown: [100, 40], ageMs: 6 * hourMs }), [2])
  t.strictSame(await lost({ shown: [40, 100, undefined], ageMs: 6 * hourMs }), [1, 3])
})

t.test('a replica is lost when Kafka has deleted records that it lacks', async t => {
  t.strictSame(await lost({ shown: [100, 40], start: 41 }), [2])
  t.strictSame(await lost({ shown: [100, 40], start: 40 }), [])
})

t.test('the one that has most is never lost, nor one that is lost already', async t => {
  t.strictSame(await lost({ shown: [40, 40], start: 90, ageMs: 9 * hourMs }), [])
  t.strictSame(await lost({ shown: [100, 40], start: 90, lost: 2 }), [])
})
