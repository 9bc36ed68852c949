import fc from 'fast-check'
import { test } from 'tap'
import { ApplyTracker, type Lane } from '../../ingest/forwarder/apply-tracker.ts'
import { type SentEvent, SentWatermark } from '../../ingest/forwarder/sent-watermark.ts'
import type { TableState } from '../../ingest/forwarder/table-state.ts'
import { runs } from '../support/runs.ts'

const state = (sequencerTxn: number, writerTxn: number): TableState => ({
  sequencerTxn,
  writerTxn,
  suspended: false,
  errorMessage: '',
})

/** The forwarder's two lanes, the table, and a view of it that is refreshed now and then. */
class Model {
  readonly #watermark = new SentWatermark()
  readonly #sent = { live: 0, backfill: 0, liveOrdinal: 0, backfillOrdinal: 0 }
  readonly #applyTracker = new ApplyTracker(new Int32Array(1), { ...this.#sent }, news => this.#watermark.apply(news))
  readonly #underWay: Record<Lane, number[]> = { live: [], backfill: [] }
  /** Every row of the table, by the transaction that brought it. */
  readonly #rows: { txn: number; timeUs: number }[] = []
  #tableTxn = 0
  #asked: TableState | undefined
  #viewTxn = 0

  /** A lane begins a batch of requests, unless one is under way. */
  begin(lane: Lane, requests: number[]): void {
    if (this.#underWay[lane].length > 0) return
    this.#underWay[lane].push(...requests)
    this.#applyTracker.sending(lane, Math.min(...requests))
  }

  /** Applies the next request of the lane to the table. The last one ends the batch. */
  take(lane: Lane): void {
    const timeUs = this.#underWay[lane].shift()
    if (timeUs === undefined) return
    this.#rows.push({ txn: ++this.#tableTxn, timeUs })
    if (this.#underWay[lane].length > 0) return
    this.#applyTracker.sent(lane, 1)
    this.#sent[lane]++
  }

  ask(): void {
    if (this.#asked !== undefined) return
    this.#applyTracker.mark({ ...this.#sent })
    this.#asked = state(this.#tableTxn, this.#tableTxn)
  }

  answer(): void {
    if (this.#asked !== undefined) this.#applyTracker.observe([this.#asked])
    this.#asked = undefined
  }

  /** The view catches up by so many transactions. */
  refresh(count: number): void {
    this.#viewTxn = Math.min(this.#tableTxn, this.#viewTxn + count)
  }

  settle(): void {
    for (const lane of ['live', 'backfill'] as const) while (this.#underWay[lane].length > 0) this.take(lane)
    this.answer()
    for (let count = 0; count < 2; count++) {
      this.ask()
      this.answer()
    }
  }

  /** The reported time, and the oldest row that the view lacks. */
  compare(): { reported: number; lacking: number } {
    const lacking = this.#rows.filter(({ txn }) => txn > this.#viewTxn).map(({ timeUs }) => timeUs)
    return { reported: this.#watermark.oldestSince(this.#viewTxn), lacking: Math.min(...lacking) }
  }
}

type Step = (model: Model) => void

function stepOf<Value>(values: fc.Arbitrary<Value>, act: (model: Model, value: Value) => void) {
  return values.map(
    (value): Step =>
      model =>
        act(model, value),
  )
}

const lane = fc.constantFrom<Lane>('live', 'backfill')
const times = fc.array(fc.nat(1000), { minLength: 1, maxLength: 4 })
const step = fc.oneof(
  stepOf(fc.tuple(lane, times), (model, [name, requests]) => model.begin(name, requests)),
  stepOf(lane, (model, name) => model.take(name)),
  stepOf(fc.constantFrom('ask' as const, 'answer' as const), (model, what) => model[what]()),
  stepOf(fc.integer({ min: 1, max: 5 }), (model, count) => model.refresh(count)),
)

test('the view never lacks a row older than reported, and none at the end', async () => {
  const property = fc.property(fc.array(step, { maxLength: 200, size: 'max' }), steps => {
    const model = new Model()
    for (const act of steps) {
      act(model)
      const { reported, lacking } = model.compare()
      if (reported > lacking) throw new Error(`reported ${reported}, but a row of ${lacking} is not in the view`)
    }
    model.settle()
    model.refresh(Number.POSITIVE_INFINITY)
    if (model.compare().reported !== Number.POSITIVE_INFINITY) throw new Error(`reported ${model.compare().reported}`)
  })
  fc.assert(property, runs(100, 500))
})

const sent = (txn: number, oldestUs: number, unsequencedUs = Number.POSITIVE_INFINITY): SentEvent => ({
  kind: 'sent',
  unsequencedUs,
  sequenced: { txn, oldestUs, position: 0 },
})

test('a view without refreshes stays correct at no cost of memory', async t => {
  const watermark = new SentWatermark()
  for (let txn = 1; txn <= 10_000; txn++) watermark.apply(sent(txn, txn === 5000 ? 7 : 1_000_000 + txn))
  const reported = Array.from({ length: 10_001 }, (_, txn) => watermark.oldestSince(txn))
  t.ok(new Set(reported).size < 100)
  t.equal(reported[4999], 7)
  t.ok((reported[9000] ?? 0) > 1_000_000)
  t.equal(reported[10_000], Number.POSITIVE_INFINITY)
})

test('a view that is refreshed again after a long pause distinguishes rows as before', async t => {
  const watermark = new SentWatermark()
  const send = (txn: number) => watermark.apply(sent(txn, txn))
  for (let txn = 1; txn <= 10_000; txn++) send(txn)
  for (let txn = 10_001; txn <= 10_100; txn++) {
    send(txn)
    watermark.oldestSince(txn - 1)
  }
  for (let txn = 10_101; txn <= 10_110; txn++) send(txn)
  const txns = Array.from({ length: 10 }, (_, index) => 10_100 + index)
  for (const txn of txns) t.equal(watermark.oldestSince(txn), txn + 1)
})

test('lost rows are forgotten', async t => {
  const watermark = new SentWatermark()
  watermark.apply(sent(3, 4, 5))
  t.equal(watermark.oldestSince(2), 4)
  watermark.apply({ kind: 'lost', reason: 'of a test' })
  t.equal(watermark.oldestSince(2), Number.POSITIVE_INFINITY)
  watermark.apply(sent(1, 8, 9))
  t.equal(watermark.oldestSince(0), 8, 'another table begins with its first transaction')
})
