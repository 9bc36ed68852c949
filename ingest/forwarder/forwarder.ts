/**
 * Takes the journal to QuestDB. Three loops run side by side: the live lane, the backfill lane behind it, and the
 * apply poller, which learns what was applied and lets the journal forget it (apply-poller.ts).
 */

import type { Log } from '../../store/log.ts'
import { bug } from '../bug.ts'
import type { Disk } from '../journal/disk.ts'
import { oldestReceiptUs } from '../journal/group.ts'
import { type Chunk, SegmentReader } from '../journal/segment-reader.ts'
import { Tombstones } from '../journal/tombstones.ts'
import type { TableDescription } from '../table.ts'
import type { Timing } from '../timing.ts'
import { ApplyPoller } from './apply-poller.ts'
import { ApplyTracker, type Lane, type Progress } from './apply-tracker.ts'
import { BackfillPlanner } from './backfill-planner.ts'
import type { Batch } from './batch.ts'
import { CommitMode } from './commit-mode.ts'
import { DeadLetterStore } from './dead-letter-store.ts'
import { Delivery } from './delivery.ts'
import type { ForwarderStatus } from './forwarder-status.ts'
import { type FileTask, IssueLog, isSystemError } from './issue-log.ts'
import { type LiveBatch, LiveBatches } from './live-batches.ts'
import type { QuestdbConnection } from './questdb.ts'
import { quiesce } from './quiesce.ts'
import { Retention } from './retention.ts'
import { RowFormat } from './rows.ts'
import type { SentEvent } from './sent-watermark.ts'
import { Sleeper } from './sleeper.ts'
import { findSchemaError, readTableState } from './table-state.ts'

export interface ForwarderOptions {
  table: TableDescription
  disk: Disk
  /** The last of these asks the small questions; the one before it carries the backfill lane, the others the live lane. */
  connections: QuestdbConnection[]
  requestBytes: number
  durableEnd: () => number
  /** Where both lanes begin: the end of what was applied, as far as we remember. */
  from: number
  /** Records that the journal had taken when it was opened. */
  endOrdinal: number
  /** Under steady load a batch begins at most this often, unless a large one is waiting. */
  paceMs: number
  /** QuestDB is done with a request that it did not answer when it has answered others for so long. */
  quiesceMs: number
  /** What QuestDB has applied is on its disk, as far as we know. */
  isSynced: boolean
  /** Where it is not, how long applied segments are kept for the next crash of QuestDB. */
  keepMs: number
  /** At most this much is kept for that. */
  keepBytesMax: number
  revisions: Int32Array
  /** Told of rows before they can be seen in the table. */
  onSent: (event: SentEvent) => void
  nowMs: () => number
  timing: Timing
  log: Log
  onStatus: (status: ForwarderStatus) => void
}

/** What a lane has gone through: its groups, and where it goes on. */
type Stretch = Pick<Chunk, 'groups' | 'next'>

const idleMs = 40
const settleMs = 50
const stuckMs = 1000
/** How long a stop waits for the requests that are under way. */
const closeWaitMs = 1000
/** Some ten thousand rows: so many do not wait for more. */
const bytesWorthSending = 700 * 1024
/** So much of the journal is looked through for late records before anything else has its turn. */
const scanBytesMax = 64 * 1024 * 1024

export class Forwarder {
  readonly #options: ForwarderOptions
  readonly #control: QuestdbConnection
  readonly #delivery: Delivery
  readonly #liveBatches: LiveBatches
  /** The batch behind the one that is on its way, if it is prepared. */
  #next: LiveBatch | undefined
  readonly #issues: IssueLog
  readonly #deadLetters: DeadLetterStore
  readonly #backfill: BackfillPlanner
  readonly #backfillReader: SegmentReader
  readonly #applyTracker: ApplyTracker
  readonly #commitMode: CommitMode
  readonly #tombstones: Tombstones
  readonly #sent: Progress
  readonly #sleeper: Sleeper
  readonly #retention: Retention
  readonly #applyPoller: ApplyPoller
  #batchAtMs = Number.NEGATIVE_INFINITY
  /** Receipt time of the last group that the live lane has sent. */
  #receiptUs = Number.NEGATIVE_INFINITY
  #rewindTo: number | undefined
  #resting = 0
  /** What is done while no lane has anything under way or prepared. */
  readonly #restWork: (() => void)[] = []
  #unsentSinceUs: number | undefined
  /** A request of the process before this one may still be on its way. */
  readonly #mayHavePredecessor: boolean
  #predecessorGone: Promise<void> | undefined
  #running: Promise<unknown> | undefined

  constructor(options: ForwarderOptions) {
    const { table, disk, connections, from, timing, log, keepMs, isSynced } = options
    const format = new RowFormat(table)
    this.#options = options
    this.#issues = new IssueLog(log)
    this.#deadLetters = new DeadLetterStore({ ...options, issues: this.#issues })
    this.#control = connections.at(-1) as QuestdbConnection
    this.#commitMode = new CommitMode({ connection: this.#control, isSynced, timing, log })
    this.#tombstones = new Tombstones(disk)
    this.#liveBatches = new LiveBatches(disk, format.layout, connections.length - 2, this.#tombstones)
    this.#backfill = new BackfillPlanner(format.layout.kind, connections.length - 2, this.#tombstones)
    this.#backfillReader = new SegmentReader(disk)
    const ordinal = this.#ordinalAt(from) ?? options.endOrdinal
    this.#sent = { live: from, backfill: from, liveOrdinal: ordinal, backfillOrdinal: ordinal }
    this.#applyTracker = new ApplyTracker(options.revisions, { ...this.#sent }, options.onSent)
    this.#mayHavePredecessor = from < options.durableEnd()
    this.#sleeper = new Sleeper(timing)
    this.#retention = new Retention({ ...options, commitMode: this.#commitMode, tombstones: this.#tombstones }, from)
    this.#applyPoller = new ApplyPoller({
      table: table.name,
      connection: this.#control,
      applyTracker: this.#applyTracker,
      retention: this.#retention,
      commitMode: this.#commitMode,
      issues: this.#issues,
      sleeper: this.#sleeper,
      keepMs,
      sent: () => (this.#rewindTo === undefined ? { ...this.#sent } : undefined),
      onLost: reason => this.#rewind(reason),
      timing,
      log,
    })
    this.#delivery = new Delivery({
      format,
      connections: connections.slice(0, -1),
      requestBytes: options.requestBytes,
      monotonicMs: timing.monotonicMs,
      sleep: ms => this.#sleeper.sleep(ms),
      random: timing.random,
      quiesce: () => this.#quiesce(options.quiesceMs),
      isClosed: () => this.#sleeper.stopped,
      findSchemaError: () => findSchemaError(this.#control, table),
      addDeadLetter: (batch, offset, reason) => this.#deadLetters.put(batch, offset, reason),
      onIssue: issue => this.#issues.note(issue),
      onUnavailable: issue => this.#issues.noteUnavailable(issue),
    })
  }

  run(): void {
    this.#running ??= Promise.all([this.#runLive(), this.#runBackfill(), this.#runApplyPoller()])
  }

  /** The dead letters were changed by somebody else. */
  recountDeadLetters(): Promise<boolean> {
    return this.#insist('letters', () => this.#deadLetters.recount())
  }

  /**
   * Nothing of these series that stands before the position is ever sent again, over any restart. Resolves when that is on
   * the disk and no request with such rows is under way: true, or false when the forwarder has closed before.
   */
  async erase(seriesNumbers: readonly number[], before: number): Promise<boolean> {
    if (!(await this.#insist('tombstones', () => this.#tombstones.add(seriesNumbers, before)))) return false
    await this.#untilRested()
    // Also what this process or the one before has left without an answer.
    await this.#quiesce(this.#options.quiesceMs)
    return !this.#sleeper.stopped
  }

  /** Stops after the requests that are under way, and remembers how far it came. May be called twice. */
  async close(): Promise<void> {
    this.#sleeper.stop()
    const { timing, connections } = this.#options
    const disconnect = (): void => {
      for (const connection of connections) connection.close()
    }
    // A QuestDB that hangs does not hold up a stop: what it leaves unanswered is sent again after the next start.
    const cancel = timing.after(closeWaitMs, disconnect)
    await this.#running
    cancel()
    if (this.#rewindTo === undefined) this.#retention.saveLastCheckpoint(this.#applyTracker.position)
    this.#report()
    disconnect()
    this.#liveBatches.close()
    this.#backfillReader.close()
  }

  async #runLive(): Promise<void> {
    while (!this.#sleeper.stopped) {
      await this.#rest()
      const current = this.#next ?? (await this.#attempt('live', () => this.#prepareDue()))
      this.#next = undefined
      if (current === undefined) {
        await this.#sleeper.sleep(idleMs)
        continue
      }
      if (current.waitsForBackfill && this.#sent.backfill < this.#sent.live) {
        this.#next = current
        await this.#sleeper.sleep(idleMs)
        continue
      }
      const sending = this.#sendLive(current)
      this.#next = await this.#attempt('live', () => this.#prepareNext(current))
      if (!(await sending)) this.#dropPrepared()
    }
  }

  /** A system error, such as too many open files, is logged and gives undefined; any other error is a bug. */
  async #attempt<T>(what: FileTask, work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      const result = await work()
      this.#issues.noteFile(what, undefined)
      return result
    } catch (error) {
      if (!isSystemError(error)) throw error
      this.#issues.noteFile(what, error.message)
      await this.#sleeper.sleep(stuckMs)
      return undefined
    }
  }

  /** Until the system does it: true, or false when we are stopping. */
  async #insist(what: FileTask, work: () => void): Promise<boolean> {
    const tried = () => {
      work()
      return true
    }
    while (!this.#sleeper.stopped) if (await this.#attempt(what, tried)) return true
    return false
  }

  async #sendLive({ chunk, batch, receiptUs }: LiveBatch): Promise<boolean> {
    const { live, backfill } = this.#sent
    this.#batchAtMs = this.#options.timing.monotonicMs()
    if (!(await this.#insist('quarantine', () => this.#retention.quarantine(chunk)))) return false
    if (!(await this.#send('live', batch, oldestReceiptUs(chunk.groups)))) return false
    const hasBackfill = chunk.groups.some(group => group.backfillCount > 0)
    // Nothing for the other lane in here: it need not read it.
    if (!hasBackfill && backfill === live && this.#sent.backfill === live) this.#advance('backfill', chunk)
    this.#advance('live', chunk)
    this.#receiptUs = receiptUs
    return true
  }

  #prepareDue(): LiveBatch | undefined {
    const { live } = this.#sent
    const end = this.#options.durableEnd()
    return this.#isDue(end - live) ? this.#liveBatches.read(live, end, this.#receiptUs) : undefined
  }

  /** While a batch is on its way the next is prepared, if it is a large one; a small one waits for more. */
  async #prepareNext({ chunk, receiptUs }: LiveBatch): Promise<LiveBatch | undefined> {
    const end = this.#options.durableEnd()
    if (end - chunk.next < bytesWorthSending) return undefined
    // The requests are handed to their sockets before the processor is taken for the next rows.
    await new Promise(resolve => setImmediate(resolve))
    return this.#liveBatches.read(chunk.next, end, receiptUs)
  }

  /**
   * A commit in sync mode costs QuestDB two dozen syncs, and the journal's own sync waits behind them. So under steady
   * load few rows wait a little for more; after a pause, and for a backlog, a batch begins at once.
   */
  #isDue(bytes: number): boolean {
    if (bytes === 0) return false
    return bytes >= bytesWorthSending || this.#options.timing.monotonicMs() - this.#batchAtMs >= this.#options.paceMs
  }

  /** Never passes the live lane: of two records with one key the later must be sent later, in whichever lane it is. */
  async #runBackfill(): Promise<void> {
    while (!this.#sleeper.stopped) {
      await this.#rest()
      const { backfill } = this.#sent
      const collected = await this.#attempt('backfill', () => this.#collectBackfill())
      if (collected === undefined) {
        // Whatever was collected before an error is collected again.
        this.#backfill.clear()
        await this.#sleeper.sleep(idleMs)
        continue
      }
      const batch = this.#backfill.plan()
      if (await this.#send('backfill', batch, oldestReceiptUs(collected.groups))) this.#advance('backfill', collected)
      this.#backfill.clear()
      const isSmall = batch.parts.length > 0 && collected.next - backfill < bytesWorthSending
      if (isSmall) await this.#sleeper.sleep(this.#options.paceMs)
    }
  }

  /** Collects late records up to the live lane's position; undefined when there is nothing to look through. */
  #collectBackfill(): Stretch | undefined {
    const stretch: Stretch = { groups: [], next: this.#sent.backfill }
    let position = this.#sent.backfill
    const scanEnd = position + scanBytesMax
    while (position < Math.min(this.#sent.live, scanEnd)) {
      const chunk = this.#backfillReader.read(position, this.#sent.live)
      if (chunk.next === position || !this.#backfill.collect(chunk)) break
      position = chunk.next
      stretch.groups.push(...chunk.groups)
      stretch.next = position
    }
    return position === this.#sent.backfill ? undefined : stretch
  }

  async #runApplyPoller(): Promise<void> {
    while (!this.#sleeper.stopped) {
      await this.#applyPoller.settle()
      this.#report()
      await this.#sleeper.sleep(settleMs)
    }
  }

  #quiesce(ms: number): Promise<void> {
    const { table, timing } = this.#options
    return quiesce({ ask: () => readTableState(this.#control, table.name), sleeper: this.#sleeper, timing }, ms)
  }

  /** A process before this one may have left a request behind; the start took most of the time that it needs. */
  #awaitPredecessor(): Promise<void> {
    this.#predecessorGone ??= this.#quiesce(this.#options.quiesceMs / 3)
    return this.#predecessorGone
  }

  /** Sends everything again that the journal still has. The lanes notice between two batches. */
  #rewind(reason: string): void {
    this.#issues.wasUnavailable = false
    if (this.#rewindTo === undefined) this.#restWork.push(() => this.#restart())
    this.#rewindTo = this.#retention.start
    this.#options.onSent({ kind: 'lost', reason })
    this.#options.log.warn({ from: this.#rewindTo, reason }, 'the journal is replayed')
  }

  /** Where a lane stands between two batches. What waits for that is done when both stand here. */
  async #rest(): Promise<void> {
    this.#resting++
    while (this.#restWork.length > 0 && !this.#sleeper.stopped) {
      if (this.#resting === 2) await this.#attempt('rewind', () => this.#doRestWork())
      else await this.#sleeper.sleep(idleMs)
    }
    this.#resting--
  }

  /** Until each lane has stood between two batches, or we are stopping. */
  async #untilRested(): Promise<void> {
    let hasRested = false
    this.#restWork.push(() => {
      hasRested = true
    })
    while (!hasRested && !this.#sleeper.stopped) await this.#sleeper.sleep(idleMs)
  }

  #doRestWork(): void {
    this.#dropPrepared()
    for (let work = this.#restWork[0]; work !== undefined; work = this.#restWork[0]) {
      work()
      this.#restWork.shift()
    }
  }

  /** It may stand elsewhere, or hold what was erased. QuestDB may know none of its symbols. */
  #dropPrepared(): void {
    this.#next = undefined
    this.#liveBatches.forgetSymbols()
  }

  #restart(): void {
    const position = this.#rewindTo ?? this.#retention.start
    const ordinal = this.#ordinalAt(position) ?? this.#sent.liveOrdinal
    this.#retention.restart()
    Object.assign(this.#sent, { live: position, backfill: position, liveOrdinal: ordinal, backfillOrdinal: ordinal })
    this.#applyTracker.rewind({ ...this.#sent })
    this.#rewindTo = undefined
  }

  /** By a reader of its own, whose megabytes go with it. */
  #ordinalAt(position: number): number | undefined {
    const reader = new SegmentReader(this.#options.disk)
    try {
      return reader.read(position, this.#options.durableEnd()).groups[0]?.firstOrdinal
    } finally {
      reader.close()
    }
  }

  async #send(lane: Lane, batch: Batch, receiptUs: number | undefined): Promise<boolean> {
    if (batch.parts.length === 0) return true
    this.#unsentSinceUs ??= receiptUs
    if (batch.hasClientTimes && this.#mayHavePredecessor) await this.#awaitPredecessor()
    this.#applyTracker.sending(lane, batch.oldestUs)
    const outcome = await this.#delivery.deliver(batch)
    if (outcome === 'stuck') await this.#sleeper.sleep(stuckMs)
    if (outcome !== 'sent') return false
    this.#applyTracker.sent(lane, receiptUs)
    this.#unsentSinceUs = undefined
    for (const series of batch.series) this.#applyTracker.markDirty(series)
    return true
  }

  #advance(lane: Lane, { groups, next }: Stretch): void {
    const last = groups.at(-1)
    if (next < this.#sent[lane]) throw bug(`the ${lane} lane is at ${this.#sent[lane]} and goes on to ${next}`)
    this.#sent[lane] = next
    if (last !== undefined) this.#sent[`${lane}Ordinal`] = last.firstOrdinal + last.recordCount
  }

  #report(): void {
    const { liveOrdinal, backfillOrdinal } = this.#applyTracker.applied
    this.#options.onStatus({
      rows: this.#delivery.rows,
      live: this.#sent.live,
      backfill: this.#sent.backfill,
      applied: this.#applyTracker.position,
      start: this.#retention.start,
      appliedOrdinal: Math.min(liveOrdinal, backfillOrdinal),
      pendingSinceUs: this.#applyTracker.pendingSinceUs ?? this.#unsentSinceUs,
      deadLetters: this.#deadLetters.count,
      suspended: this.#applyPoller.suspended,
      damagedBytes: this.#retention.damagedBytes,
      issue: this.#issues.current,
      fileIssue: this.#issues.fileIssue,
      isSynced: this.#commitMode.isSynced,
    })
  }
}
