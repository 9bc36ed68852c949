/**
 * A model of a topic, its successive forwarders, their table, the view of it, and a feed that reads the topic. It
 * knows the transaction of every row.
 */

import { openTopicFeed, type TopicFeed } from '../../ingest/kafka/consume/feed.ts'
import type { PublishedState } from '../../ingest/kafka/state/forward-status.ts'
import { readings } from '../../ingest/readings-table.ts'
import { silentLog } from '../support/databases.ts'
import { damaged, FakePartition, groupOf, type TopicRow } from './fake-partition.ts'

export const seriesNumbers = [1, 2, 3, 4, 5] as const

interface ModelRow extends TopicRow {
  readonly offset: number
  readonly isLate: boolean
}

export type Lane = 'live' | 'backfill'

export class ForwardedTopic {
  readonly #rows: ModelRow[] = []
  readonly #partition = new FakePartition()
  /** All rows of the table with their transactions. A row that was sent twice stands here twice. */
  #table: { readonly row: ModelRow; readonly txn: number }[] = []
  #sequencerTxn = 0
  #writerTxn = 0
  #viewTxn = 0
  readonly #sent = { live: 0, backfill: 0 }
  /** The present forwarder's sent offsets by transaction. */
  #marks: { readonly txn: number; readonly offset: number }[] = []
  #state: PublishedState = { tenure: 1, losses: 0, committed: 0, applied: 0, sequenced: undefined }
  #published = this.#state

  /** The feed and its inputs. */
  #feed: TopicFeed
  #tell: (state: PublishedState) => void = () => undefined
  #delivered: PublishedState | undefined
  #from = 0
  #notifyFrom = 0
  #handled: number[] = []
  /** All series may be raised since then. */
  #isDoubted = false
  #losses = 0
  #missed = 0

  constructor() {
    this.#feed = this.#openFeed()
  }

  #openFeed(): TopicFeed {
    this.#delivered = undefined
    this.#handled = []
    this.#isDoubted = false
    this.#losses = this.#missed = 0
    const feed = openTopicFeed({
      table: readings,
      topic: 'readings',
      partition: this.#partition,
      from: this.#from,
      notifyFrom: this.#notifyFrom,
      published: {
        onState: (_, listener) => {
          this.#tell = listener
        },
        ageMs: () => (this.#isCurrent ? 0 : Number.POSITIVE_INFINITY),
      },
      log: silentLog,
      onFatal: error => {
        throw error
      },
      monotonicMs: () => 0,
      retryMs: 0,
      pauseMs: 0,
    })
    feed.onStored(
      stored => {
        while (stored.next()) this.#handled.push(stored.value(0))
      },
      () => this.#missed++,
    )
    feed.replicas[0].onLost(() => this.#losses++)
    return feed
  }

  /** The state that the feed has is not from before something is sent again. */
  get #isCurrent(): boolean {
    const { tenure, losses } = this.#state
    return this.#delivered?.tenure === tenure && this.#delivered.losses === losses
  }

  append(rows: readonly { series: number; timeUs: number; isLate: boolean }[], isDamaged: boolean): void {
    const offset = this.#partition.values.length
    const added = rows.map((row, index) => ({ ...row, offset, id: this.#rows.length + index }))
    const group = groupOf(added)
    this.#partition.values.push(isDamaged ? damaged(group) : group)
    if (!isDamaged) this.#rows.push(...added)
  }

  /** Sends the lane's rows of the next group. */
  send(lane: Lane): void {
    const offset = this.#sent[lane]
    if (offset >= (lane === 'live' ? this.#partition.values.length : this.#sent.live)) return
    const rows = this.#rows.filter(row => row.offset === offset && row.isLate === (lane === 'backfill'))
    if (rows.length > 0) this.#sequencerTxn++
    this.#table.push(...rows.map(row => ({ row, txn: this.#sequencerTxn })))
    this.#sent[lane]++
    this.#marks.push({ txn: this.#sequencerTxn, offset: Math.min(this.#sent.live, this.#sent.backfill) })
  }

  /** The table shows this many more transactions. The forwarder sees them, and commits or not. */
  apply(count: number, isCommitted: boolean): void {
    this.#writerTxn = Math.min(this.#sequencerTxn, this.#writerTxn + count)
    const shown = this.#marks.findLast(({ txn }) => txn <= this.#writerTxn)
    const applied = Math.max(this.#state.applied, shown?.offset ?? 0)
    const committed = isCommitted ? applied : this.#state.committed
    this.#state = { ...this.#state, applied, committed, sequenced: this.#marks.at(-1) }
  }

  publish(): void {
    this.#published = this.#state
  }

  /** Another process forwards, and says so before it sends. */
  takeOver(): void {
    this.#sendAgain({ tenure: this.#state.tenure + 1, losses: 0 })
  }

  /** The table goes back, to a transaction behind all that was committed. */
  lose(share: number): void {
    const kept = this.#table.filter(({ row }) => row.offset < this.#state.committed).map(({ txn }) => txn)
    const least = Math.max(0, ...kept)
    this.#sequencerTxn = least + Math.floor((this.#sequencerTxn - least) * share)
    this.#writerTxn = Math.min(this.#writerTxn, this.#sequencerTxn)
    this.#table = this.#table.filter(({ txn }) => txn <= this.#sequencerTxn)
    // A view of lost rows is rebuilt.
    this.#viewTxn = Math.min(this.#viewTxn, this.#writerTxn)
    this.#sendAgain({ losses: this.#state.losses + 1 })
  }

  #sendAgain(change: Partial<PublishedState>): void {
    const { committed } = this.#state
    this.#sent.live = this.#sent.backfill = committed
    this.#marks = []
    this.#state = { ...this.#state, ...change, applied: committed, sequenced: undefined }
    this.publish()
  }

  refreshView(count: number): void {
    this.#viewTxn = Math.min(this.#writerTxn, this.#viewTxn + count)
  }

  /** The topic's retention removes this share of the committed records. */
  retain(share: number): void {
    this.#partition.start = Math.max(this.#partition.start, Math.floor(this.#state.committed * share))
  }

  async failFetch(): Promise<void> {
    await this.#partition.fail()
  }

  /** The feed reads so many groups. */
  async read(count: number): Promise<void> {
    const revisions = this.#revisions()
    const before = this.#feed.status().position
    await this.#partition.serve(count)
    const start = this.#partition.start
    if (before < start) {
      this.#isDoubted = true
      if (this.#missed === 0) throw new Error('no listener was notified of the gap')
      this.#assertRaised(revisions, seriesNumbers, 'with a gap')
    }
    const { position } = this.#feed.status()
    const applied = this.#delivered?.applied ?? 0
    const isShown = ({ offset }: ModelRow) => offset >= before && offset < Math.min(position, applied)
    this.#assertRaised(revisions, this.#seriesOf(isShown), 'when it was read late')
  }

  /** The feed gets the state that was published last. */
  deliver(): void {
    const [before, next] = [this.#delivered, this.#published]
    const { position } = this.#feed.status()
    const revisions = this.#revisions()
    const losses = this.#losses
    this.#delivered = next
    this.#tell(next)
    const isOther = before !== undefined && before.tenure !== next.tenure
    const isLost = isOther ? next.losses > 0 : before !== undefined && before.losses !== next.losses
    const isRepeated = isLost || isOther
    if (this.#losses - losses !== (isLost ? 1 : 0)) throw new Error('wrong number of reported losses')
    if (isRepeated) {
      this.#isDoubted = true
      this.#assertRaised(revisions, seriesNumbers, 'when rows come again')
    }
    const from = Math.max(this.#from, before?.applied ?? 0)
    const isShown = ({ offset }: ModelRow) => offset >= from && offset < Math.min(next.applied, position)
    this.#assertRaised(revisions, this.#seriesOf(isShown), 'when its rows were applied')
  }

  /** Another process, or this one after a start. */
  async restartFeed(): Promise<void> {
    await this.#feed.close()
    this.#from = Math.max(this.#state.committed, this.#partition.start)
    this.#notifyFrom = this.#partition.values.length
    this.#feed = this.#openFeed()
  }

  async close(): Promise<void> {
    await this.#feed.close()
  }

  assert(): void {
    const { position } = this.#feed.status()
    this.#assertDelivered(position)
    const reported = this.#feed.replicas[0].oldestSentSince(this.#viewTxn)
    for (const { row, txn } of this.#table) {
      if (txn > this.#viewTxn && row.offset < position && row.timeUs < reported) {
        throw new Error(`reported ${reported}, but a row of ${row.timeUs} in group ${row.offset} came with ${txn}`)
      }
    }
    if (this.#isDoubted) return
    const applied = this.#delivered?.applied ?? 0
    const touched = new Set(this.#seriesOf(row => row.offset >= this.#from && row.offset < Math.min(applied, position)))
    for (const series of seriesNumbers) {
      const revision = this.#feed.replicas[0].revision(series)
      if (!touched.has(series) && revision !== 0) throw new Error(`series ${series} was raised before its rows show`)
    }
  }

  /** Each row once, in the order of the topic. */
  #assertDelivered(position: number): void {
    const handled = this.#handled.join()
    const skipped = this.#missed > 0
    const wanted = this.#rows
      .filter(({ offset }) => offset >= this.#notifyFrom && offset < position)
      .map(({ id }) => id)
    const isRight = skipped ? isSubsequence(this.#handled, wanted) : handled === wanted.join()
    if (!isRight) throw new Error(`delivered ${handled} instead of ${wanted.join()}`)
  }

  /** The view is complete and reported so once everything is read, sent, shown and known. */
  async settle(): Promise<void> {
    await this.read(Number.POSITIVE_INFINITY)
    await this.read(Number.POSITIVE_INFINITY)
    for (let count = 0; count <= this.#partition.values.length; count++) {
      this.send('live')
      this.send('backfill')
    }
    this.append([{ series: 1, timeUs: 1, isLate: false }], false)
    await this.read(1)
    await this.read(1)
    this.send('live')
    this.send('backfill')
    this.apply(Number.POSITIVE_INFINITY, true)
    this.publish()
    this.deliver()
    this.refreshView(Number.POSITIVE_INFINITY)
    const reported = this.#feed.replicas[0].oldestSentSince(this.#viewTxn)
    if (reported !== Number.POSITIVE_INFINITY) throw new Error(`reported ${reported} when all had settled`)
  }

  #seriesOf(isWanted: (row: ModelRow) => boolean): number[] {
    return this.#rows.filter(isWanted).map(({ series }) => series)
  }

  #revisions(): Map<number, number> {
    return new Map(seriesNumbers.map(series => [series, this.#feed.replicas[0].revision(series)]))
  }

  #assertRaised(before: ReadonlyMap<number, number>, series: readonly number[], when: string): void {
    for (const number of series) {
      if (this.#feed.replicas[0].revision(number) <= (before.get(number) ?? 0)) {
        throw new Error(`the revision of series ${number} was not raised ${when}`)
      }
    }
  }
}

function isSubsequence(part: readonly number[], whole: readonly number[]): boolean {
  let at = 0
  for (const one of whole) if (part[at] === one) at++
  return at === part.length
}
