/**
 * Forwards the journal to QuestDB. Three loops run concurrently: the live lane, the backfill lane behind it, and the apply
 * poller, which reads the applied transactions, so that the journal can remove applied rows.
 */

import type { Log } from '../../store/log.ts'
import type { Disk } from '../journal/disk.ts'
import { layoutOf } from '../journal/record.ts'
import { SegmentReader } from '../journal/segment-reader.ts'
import { type TableDescription, tableNames } from '../table.ts'
import { Sleeper, type Timing } from '../timing.ts'
import { PositionRecorder, type PositionRecorderOptions } from './applied-positions.ts'
import { ApplyPoller } from './apply-poller.ts'
import { ApplyTracker } from './apply-tracker.ts'
import { CustomSeries } from './custom-series.ts'
import { Delivery } from './delivery.ts'
import { type ForwarderFiles, openForwarderFiles } from './forwarder-files.ts'
import type { ForwarderStatus } from './forwarder-status.ts'
import { IssueLog } from './issue-log.ts'
import { Lanes } from './lanes.ts'
import type { LiveLaneOptions } from './live-lane.ts'
import { type QuestdbConnection, quiesce } from './questdb.ts'
import { RowFormat } from './row-format.ts'
import type { SentEvent } from './sent-watermark.ts'
import { CommitMode, findSchemaError, readLatestUs, readTableStates } from './table-state.ts'

export interface ForwarderOptions {
  table: TableDescription
  disk: Disk
  /** The last is for small queries, the one before it for the backfill lane, the others for the live lane. */
  connections: QuestdbConnection[]
  requestBytes: number
  durableEnd: () => number
  untilEndMoves?: LiveLaneOptions['untilEndMoves']
  /** Start of both lanes: the end of the applied records, as far as it is saved. */
  from: number
  /** Number of records in the journal when it was opened. */
  endOrdinal: number
  /** Minimum interval of batches under steady load, unless a large one is waiting. */
  paceMs: number
  /** QuestDB has finished an unanswered request when it has answered others for this long. */
  quiesceMs: number
  /** The same time for unanswered requests of an earlier process; 0 without any. */
  predecessorMs: number
  /** Identifies the journal in QuestDB. Without it QuestDB stores no positions. */
  positions?: Pick<PositionRecorderOptions, 'id' | 'placeOf' | 'place'> | undefined
  /** Id of a dead letter, by the position of its record. */
  letterId: (position: number) => number
  /** Rows applied by QuestDB are on its disk, as far as known. */
  isSynced: boolean
  /** Numbers of a series and one of its custom series, alternating. */
  customSeries: Uint32Array
  /** Time for which applied segments are kept for the next crash of QuestDB, if QuestDB does not sync. */
  keepMs: number
  /** Size limit of these segments. */
  keepBytesMax: number
  revisions: Int32Array
  /** Called before the rows become visible in the table. */
  onSent: (event: SentEvent) => void
  nowMs: () => number
  timing: Timing
  log: Log
  onStatus: (status: ForwarderStatus) => void
}

const pollMs = 50
const idleMs = 500
const storedTimeRetryMs = 1000
/** Time that a stop waits for the requests in flight. */
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

  /** Dead letters were removed by another thread. */
  removedDeadLetters(ids: readonly number[]): Promise<void> {
    return this.#files.deadLetters.removed(ids)
  }

  /**
   * Ensures that no record of these series before the position is ever sent again, even after a restart. Custom series are given
   * as `erasedCustom` numbers. Resolves when that is on disk, no request with such rows is in flight and no dead letter contains
   * them. The result names damaged dead letters, which may. Undefined when the forwarder has closed before.
   */
  async erase(seriesNumbers: readonly number[], before: number): Promise<string[] | undefined> {
    const isNoted = await this.#files.retry.untilDone('tombstones', () =>
      this.#files.tombstones.add(seriesNumbers, before),
    )
    if (!isNoted) return undefined
    this.#custom.forget(new Set(seriesNumbers))
    await this.#lanes.barrier.untilIdle()
    // Includes unanswered requests of this process or an earlier one.
    await this.#quiesce(Math.max(this.#options.quiesceMs, this.#options.predecessorMs))
    // Erased rows cannot become dead letters from here on.
    const damaged = await this.#files.deadLetters.erase(new Set(seriesNumbers))
    return this.#sleeper.stopped ? undefined : damaged
  }

  /**
   * Stops sending until it is released. Resolves when all sent rows are applied. Then files of the journal are not removed and
   * the checkpoint is not saved, so that a copy of both matches QuestDB. False when it was released or closed before.
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

  /** Pauses sending until the position is settled: QuestDB lacks earlier rows. */
  pause(isPaused: boolean): void {
    if (isPaused) this.#lanes.barrier.hold('unfit')
    else this.#lanes.barrier.release('unfit')
  }

  /** Sends records from the position on again, as far as the journal still has them. */
  rewind(position: number, reason: string): void {
    const { start } = this.#files.retention
    this.#rewind(reason, Math.max(start, Math.min(position, this.#applyTracker.position)))
  }

  #isAllApplied(): boolean {
    const { live, backfill } = this.#lanes.sender.sent
    const { applied } = this.#applyTracker
    return this.#rewindTo === undefined && applied.live === live && applied.backfill === backfill
  }

  /** Stops after the requests in flight, or at once with `isAborted`, and saves its progress. It may be called twice. */
  async close(isAborted = false): Promise<void> {
    this.#sleeper.stop()
    const { timing, connections } = this.#options
    let isRecorded = !isAborted && this.#rewindTo === undefined
    const disconnect = (): void => {
      isRecorded = false
      for (const connection of connections) connection.close()
    }
    // A hanging QuestDB does not delay the stop: unanswered requests are sent again after the next start.
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

  /** Everything before it is applied and confirmed by QuestDB. */
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
      // A lane that advances wakes it.
      await (this.#isAllApplied() ? this.#sleeper.idle(idleMs) : this.#sleeper.sleep(pollMs))
    }
  }

  /** Reads the latest time up to which an earlier process may have stored custom values. */
  async #learnStoredTime(): Promise<void> {
    const { custom } = this.#options.table
    if (custom === undefined) return
    while (!this.#sleeper.stopped) {
      try {
        this.#custom.storedUntil(await readLatestUs(this.#control, custom))
        return
      } catch {
        // Every record may replace one until then. The poller reports an outage.
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

  /** Sends everything in the journal from there on again, starting when both lanes are idle. */
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

/** Uses a separate reader, whose buffer is freed with it. */
function ordinalAt({ disk, durableEnd }: ForwarderOptions, position: number): number | undefined {
  const reader = new SegmentReader(disk)
  try {
    return reader.read(position, durableEnd()).groups[0]?.firstOrdinal
  } finally {
    reader.close()
  }
}
