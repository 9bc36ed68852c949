/**
 * Takes the journal to QuestDB. Three loops run side by side: the live lane, the backfill lane behind it, and the apply
 * poller, which reads what QuestDB has applied, so that the journal can remove it.
 */

import type { Log } from '../../store/log.ts'
import type { Disk } from '../journal/disk.ts'
import { layoutOf } from '../journal/record.ts'
import { SegmentReader } from '../journal/segment-reader.ts'
import { type TableDescription, tableNames } from '../table.ts'
import type { Timing } from '../timing.ts'
import { ApplyPoller } from './apply-poller.ts'
import { ApplyTracker } from './apply-tracker.ts'
import { CommitMode } from './commit-mode.ts'
import { CustomSeries } from './custom-series.ts'
import { Delivery } from './delivery.ts'
import { type ForwarderFiles, openForwarderFiles } from './forwarder-files.ts'
import type { ForwarderStatus } from './forwarder-status.ts'
import { IssueLog } from './issue-log.ts'
import { Lanes } from './lanes.ts'
import { PositionRecorder, type PositionRecorderOptions } from './position-recorder.ts'
import type { QuestdbConnection } from './questdb.ts'
import { quiesce } from './quiesce.ts'
import { RowFormat } from './row-format.ts'
import type { SentEvent } from './sent-watermark.ts'
import { Sleeper } from './sleeper.ts'
import { findSchemaError, readLatestUs, readTableStates } from './table-state.ts'

export interface ForwarderOptions {
  table: TableDescription
  disk: Disk
  /** The last is for small queries, the one before it for the backfill lane, the others for the live lane. */
  connections: QuestdbConnection[]
  requestBytes: number
  durableEnd: () => number
  /** Where both lanes begin: the end of what was applied, as far as we remember. */
  from: number
  /** Records that the journal had taken when it was opened. */
  endOrdinal: number
  /** Under steady load a batch begins at most this often, unless a large one is waiting. */
  paceMs: number
  /** QuestDB is done with an unanswered request when it has answered others for this long. */
  quiesceMs: number
  /** The same for what a process before this one may have left unanswered; 0 when there is nothing. */
  predecessorMs: number
  /** Of the journal in QuestDB; without it QuestDB keeps no positions of it. */
  positions?: Pick<PositionRecorderOptions, 'id' | 'placeOf' | 'place'> | undefined
  /** The id of a dead letter, by the position of its record. */
  letterId: (position: number) => number
  /** What QuestDB has applied is on its disk, as far as we know. */
  isSynced: boolean
  /** The number of a series that has custom ones, and of one of those, in turns. */
  customSeries: Uint32Array
  /** Where it is not, how long applied segments are kept for the next crash of QuestDB. */
  keepMs: number
  /** At most this much is kept for that. */
  keepBytesMax: number
  revisions: Int32Array
  /** Called before the rows can be seen in the table. */
  onSent: (event: SentEvent) => void
  nowMs: () => number
  timing: Timing
  log: Log
  onStatus: (status: ForwarderStatus) => void
}

const pollMs = 50
const storedTimeRetryMs = 1000
/** How long a stop waits for the requests in flight. */
const closeWaitMs = 1000

export class Forwarder {
  readonly #options: ForwarderOptions
  readonly #control: QuestdbConnection
  readonly #issues: IssueLog
  readonly #files: ForwarderFiles
  readonly #delivery: Delivery
  readonly #lanes: Lanes
  readonly #applyTracker: ApplyTracker
  readonly #recorder: PositionRecorder | undefined
  readonly #applyPoller: ApplyPoller
  readonly #commitMode: CommitMode
  readonly #custom: CustomSeries
  readonly #sleeper: Sleeper
  #rewindTo: number | undefined
  #isHeld = false
  #running: Promise<unknown> | undefined

  constructor(options: ForwarderOptions) {
    const { table, connections, from, timing, log, isSynced } = options
    const format = new RowFormat(table)
    this.#custom = new CustomSeries(options.customSeries)
    const ordinal = ordinalAt(options, from) ?? options.endOrdinal
    const progress = { live: from, backfill: from, liveOrdinal: ordinal, backfillOrdinal: ordinal }
    this.#options = options
    this.#control = connections.at(-1) as QuestdbConnection
    const sleeper = new Sleeper(timing)
    this.#sleeper = sleeper
    this.#issues = new IssueLog(log)
    this.#commitMode = new CommitMode({ connection: this.#control, isSynced, timing, log })
    const applyTracker = new ApplyTracker(options.revisions, { ...progress }, options.onSent)
    this.#applyTracker = applyTracker
    this.#files = openForwarderFiles({ ...options, issues: this.#issues, commitMode: this.#commitMode, sleeper })
    this.#recorder = this.#createRecorder()
    this.#applyPoller = this.#createApplyPoller()
    this.#delivery = this.#createDelivery(format)
    const { predecessorMs } = options
    this.#lanes = new Lanes({
      ...options,
      ...this.#files,
      delivery: this.#delivery,
      applyTracker,
      sleeper,
      from: progress,
      awaitPredecessor: predecessorMs > 0 ? () => this.#quiesce(predecessorMs) : undefined,
      layout: layoutOf(table),
      custom: this.#custom,
      connectionCount: connections.length - 2,
      applied: () => applyTracker.applied.backfill,
    })
  }

  run(): void {
    this.#running ??= Promise.all([this.#lanes.run(), this.#runApplyPoller(), this.#learnStoredTime()])
  }

  /** Dead letters were removed from outside. */
  removedDeadLetters(ids: readonly number[]): Promise<void> {
    return this.#files.deadLetters.removed(ids)
  }

  /**
   * Nothing of these series that stands before the position is ever sent again, over any restart; custom series are given as
   * `erasedCustom` has them. Resolves when that is on the disk, no request with such rows is in flight and no dead letter has one:
   * with the names of damaged letters, which may have; undefined when the forwarder has closed before.
   */
  async erase(seriesNumbers: readonly number[], before: number): Promise<string[] | undefined> {
    const isNoted = await this.#files.retry.untilDone('tombstones', () =>
      this.#files.tombstones.add(seriesNumbers, before),
    )
    if (!isNoted) return undefined
    this.#custom.forget(new Set(seriesNumbers))
    await this.#lanes.barrier.untilIdle()
    // Also requests that this process or the one before has left unanswered.
    await this.#quiesce(Math.max(this.#options.quiesceMs, this.#options.predecessorMs))
    // Behind that no row of before the tombstones becomes a dead letter any more.
    const damaged = await this.#files.deadLetters.erase(new Set(seriesNumbers))
    return this.#sleeper.stopped ? undefined : damaged
  }

  /**
   * Sends nothing more until it is released. Resolves when all that was sent is applied; then the files of the journal are
   * neither removed nor is the checkpoint saved, so that a copy of both fits what QuestDB has. False when it was released
   * or closed before.
   */
  async hold(): Promise<boolean> {
    this.#isHeld = true
    this.#lanes.barrier.hold('copy')
    await this.#lanes.barrier.untilIdle()
    while (this.#isHeld && !this.#sleeper.stopped && !this.#isAllApplied()) await this.#sleeper.sleep(pollMs)
    const isHeld = this.#isHeld && !this.#sleeper.stopped
    if (isHeld) this.#files.retention.hold(true)
    return isHeld
  }

  release(): void {
    this.#isHeld = false
    this.#files.retention.hold(false)
    this.#lanes.barrier.release('copy')
  }

  /** Sends nothing until the position is settled: QuestDB lacks rows that it had. */
  pause(isPaused: boolean): void {
    if (isPaused) this.#lanes.barrier.hold('unfit')
    else this.#lanes.barrier.release('unfit')
  }

  /** Sends again what stands at the position or behind it, as far as the journal has it. */
  rewind(position: number, reason: string): void {
    const { start } = this.#files.retention
    this.#rewind(reason, Math.max(start, Math.min(position, this.#applyTracker.position)))
  }

  #isAllApplied(): boolean {
    const { live, backfill } = this.#lanes.sender.sent
    const { applied } = this.#applyTracker
    return this.#rewindTo === undefined && applied.live === live && applied.backfill === backfill
  }

  /** Stops after the requests in flight, or at once when it is aborted, and saves how far it came. May be called twice. */
  async close(isAborted = false): Promise<void> {
    this.#sleeper.stop()
    const { timing, connections } = this.#options
    let isRecorded = !isAborted && this.#rewindTo === undefined
    const disconnect = (): void => {
      isRecorded = false
      for (const connection of connections) connection.close()
    }
    // A QuestDB that hangs does not hold up a stop: what it leaves unanswered is sent again after the next start.
    const cancel = timing.after(isAborted ? 0 : closeWaitMs, disconnect)
    await this.#running
    if (isRecorded) await this.#recorder?.recordLast(this.#applyTracker.position, this.#applyTracker.appliedTxns)
    cancel()
    if (this.#rewindTo === undefined) this.#files.retention.saveLastCheckpoint(this.#recordedTo)
    this.#report()
    disconnect()
    this.#lanes.close()
  }

  #createApplyPoller(): ApplyPoller {
    const { table, keepMs, timing, log } = this.#options
    return new ApplyPoller({
      tables: tableNames(table),
      connection: this.#control,
      applyTracker: this.#applyTracker,
      recorder: this.#recorder,
      retention: this.#files.retention,
      commitMode: this.#commitMode,
      issues: this.#issues,
      sleeper: this.#sleeper,
      keepMs,
      sent: () => (this.#rewindTo === undefined ? { ...this.#lanes.sender.sent } : undefined),
      onLost: reason => this.#rewind(reason),
      timing,
      log,
    })
  }

  #createRecorder(): PositionRecorder | undefined {
    const { positions, from, nowMs, timing } = this.#options
    if (positions === undefined) return undefined
    return new PositionRecorder({ ...positions, from, exec: this.#control.query, nowMs, timing })
  }

  /** Everything before it is applied, and QuestDB says so. */
  get #recordedTo(): number {
    return this.#recorder?.position ?? this.#applyTracker.position
  }

  #createDelivery(format: RowFormat): Delivery {
    const { table, connections, requestBytes, quiesceMs, timing } = this.#options
    return new Delivery({
      format,
      connections: connections.slice(0, -1),
      requestBytes,
      monotonicMs: timing.monotonicMs,
      sleep: ms => this.#sleeper.sleep(ms),
      random: timing.random,
      quiesce: () => this.#quiesce(quiesceMs),
      isClosed: () => this.#sleeper.stopped,
      findSchemaError: () => findSchemaError(this.#control, table),
      addDeadLetter: (batch, offset, reason) => this.#files.deadLetters.put(batch, offset, reason),
      onIssue: issue => this.#issues.note(issue),
      onUnavailable: issue => this.#issues.noteUnavailable(issue),
    })
  }

  async #runApplyPoller(): Promise<void> {
    while (!this.#sleeper.stopped) {
      await this.#applyPoller.poll()
      this.#report()
      await this.#sleeper.sleep(pollMs)
    }
  }

  /** Up to which time a process before this one may have stored custom values. */
  async #learnStoredTime(): Promise<void> {
    const { custom } = this.#options.table
    if (custom === undefined) return
    while (!this.#sleeper.stopped) {
      try {
        this.#custom.storedUntil(await readLatestUs(this.#control, custom))
        return
      } catch {
        // Until then every record may replace one; that it does not answer is reported by the others.
        await this.#sleeper.sleep(storedTimeRetryMs)
      }
    }
  }

  #quiesce(ms: number): Promise<void> {
    const { table, timing } = this.#options
    return quiesce(
      { query: () => readTableStates(this.#control, tableNames(table)), sleeper: this.#sleeper, timing },
      ms,
    )
  }

  /** Sends everything again that the journal has from there on, from when both lanes are idle. */
  #rewind(reason: string, to = this.#files.retention.start): void {
    this.#issues.wasUnavailable = false
    if (this.#rewindTo === undefined) this.#lanes.barrier.add(() => this.#restart())
    this.#rewindTo = Math.min(to, this.#rewindTo ?? to)
    this.#options.onSent({ kind: 'lost', reason })
    this.#options.log.warn({ from: this.#rewindTo, reason }, 'replaying the journal')
  }

  #restart(): void {
    const position = this.#rewindTo ?? this.#files.retention.start
    const ordinal = ordinalAt(this.#options, position) ?? this.#lanes.sender.sent.liveOrdinal
    this.#files.retention.restart()
    this.#lanes.sender.rewind(position, ordinal)
    this.#applyTracker.rewind({ ...this.#lanes.sender.sent })
    this.#recorder?.rewind(position)
    this.#rewindTo = undefined
  }

  #report(): void {
    const { liveOrdinal, backfillOrdinal } = this.#applyTracker.applied
    const { live, backfill } = this.#lanes.sender.sent
    this.#options.onStatus({
      rows: this.#delivery.rows,
      live,
      backfill,
      applied: this.#applyTracker.position,
      recorded: this.#recorder === undefined ? this.#applyTracker.position : this.#recorder.place,
      start: this.#files.retention.start,
      appliedOrdinal: Math.min(liveOrdinal, backfillOrdinal),
      pendingSinceUs: this.#applyTracker.pendingSinceUs ?? this.#lanes.sender.unsentSinceUs,
      deadLetters: this.#files.deadLetters.count,
      suspended: this.#applyPoller.suspended,
      damagedBytes: this.#files.retention.damagedBytes,
      issue: this.#issues.current,
      fileIssue: this.#issues.fileIssue,
      isSynced: this.#commitMode.isSynced,
    })
  }
}

/** By a reader of its own, whose buffer is freed with it. */
function ordinalAt({ disk, durableEnd }: ForwarderOptions, position: number): number | undefined {
  const reader = new SegmentReader(disk)
  try {
    return reader.read(position, durableEnd()).groups[0]?.firstOrdinal
  } finally {
    reader.close()
  }
}
