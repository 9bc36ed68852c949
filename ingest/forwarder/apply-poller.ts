/** Polls the applied transactions of QuestDB, so that the journal can remove applied rows, and detects lost rows. */

import type { Log } from '../../store/log.ts'
import type { Sleeper, Timing } from '../timing.ts'
import type { PositionRecorder } from './applied-positions.ts'
import type { ApplyTracker, Progress } from './apply-tracker.ts'
import { type IssueLog, isSystemError } from './issue-log.ts'
import type { QuestdbConnection } from './questdb.ts'
import type { SegmentRetention } from './segment-retention.ts'
import { type CommitMode, isTransientSuspension, readTableStates, resumeTable, type TableState } from './table-state.ts'

interface SuspensionWatchOptions {
  /** Its name. */
  table: string
  resume: () => Promise<void>
  timing: Timing
  log: Log
}

const resumeEveryMs = 30_000

/**
 * A suspended table accepts rows and shows none. That is logged as an error. After a transient cause, the table is resumed at
 * once and then every half minute: it recovers without an operator when a disk has room again.
 */
class SuspensionWatch {
  readonly #options: SuspensionWatchOptions
  #suspended = false
  #resumedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: SuspensionWatchOptions) {
    this.#options = options
  }

  get suspended(): boolean {
    return this.#suspended
  }

  async observe({ suspended, errorMessage }: TableState): Promise<void> {
    const { table, resume, timing, log } = this.#options
    if (suspended && !this.#suspended) {
      log.error({ table, reason: errorMessage }, 'QuestDB suspended the table; readings wait in the journal')
    }
    this.#suspended = suspended
    const isDue = timing.monotonicMs() - this.#resumedAtMs >= resumeEveryMs
    if (suspended && isDue && isTransientSuspension(errorMessage)) {
      this.#resumedAtMs = timing.monotonicMs()
      log.warn({ table, reason: errorMessage }, 'resuming the suspended table')
      await resume()
    }
  }
}

export interface ApplyPollerOptions {
  /** Their names. */
  tables: readonly string[]
  connection: QuestdbConnection
  applyTracker: ApplyTracker
  /** QuestDB stores no position of this journal without a recorder. */
  recorder: PositionRecorder | undefined
  retention: SegmentRetention
  commitMode: CommitMode
  issues: IssueLog
  sleeper: Sleeper
  /** Zero: rows lost by a QuestDB without sync are not sent again. */
  keepMs: number
  /** Progress of the lanes. Undefined during a rewind, since rows sent meanwhile are sent again. */
  sent: () => Progress | undefined
  /** Everything still in the journal has to be sent again. */
  onLost: (reason: string) => void
  timing: Timing
  log: Log
}

/** QuestDB takes longer than this to restart. */
const watchMs = 1000
const pauseMs = 1000

export class ApplyPoller {
  readonly #options: ApplyPollerOptions
  /** Each table has a watch. */
  readonly #suspensions: readonly SuspensionWatch[]
  #polledAtMs = Number.NEGATIVE_INFINITY
  /** Applied segments wait for removal. */
  #isTrimDue = false
  #isRecordFailing = false
  /** The last query failed. A later success ends that issue, even when nothing is sent any more. */
  #isQueryFailing = false

  constructor(options: ApplyPollerOptions) {
    const { tables, connection, timing, log } = options
    this.#options = options
    this.#suspensions = tables.map(table => {
      return new SuspensionWatch({ table, resume: () => resumeTable(connection, table), timing, log })
    })
  }

  get suspended(): boolean {
    return this.#suspensions.some(({ suspended }) => suspended)
  }

  /** Queries once if the answer matters, and removes applied segments. */
  async poll(): Promise<void> {
    const { applyTracker } = this.#options
    const sent = this.#options.sent()
    if (sent === undefined) return
    const { live, backfill } = applyTracker.applied
    const isIdle = sent.live === live && sent.backfill === backfill
    if (!isIdle || this.#isPollDue()) {
      applyTracker.mark(sent)
      await this.#query(isIdle)
    }
    await this.#trim()
  }

  async #query(isIdle: boolean): Promise<void> {
    const { tables, connection, commitMode, issues, sleeper, timing } = this.#options
    let isSynced: boolean
    let states: TableState[]
    try {
      // The mode is queried first: rows applied afterwards were applied in this mode.
      isSynced = await commitMode.query(issues.wasUnavailable)
      states = await readTableStates(connection, tables)
      this.#polledAtMs = timing.monotonicMs()
      if (isIdle || this.#isQueryFailing) issues.note(undefined)
      this.#isQueryFailing = false
      for (const [table, state] of states.entries()) await this.#suspensions[table]?.observe(state)
    } catch (error) {
      this.#isQueryFailing = true
      issues.noteUnavailable(error instanceof Error ? error.message : String(error))
      await sleeper.sleep(pauseMs)
      return
    }
    this.#observe(states, isSynced)
  }

  #observe(states: readonly TableState[], isSynced: boolean): void {
    const { applyTracker, commitMode, issues, onLost } = this.#options
    const mayHaveLost = this.#mayHaveLost(isSynced)
    commitMode.set(isSynced)
    if (mayHaveLost) {
      onLost('QuestDB was unavailable and had not synced applied rows')
      return
    }
    if (isSynced) issues.wasUnavailable = false
    const seen = applyTracker.observe(states)
    if (seen === 'lost') onLost('a table in QuestDB lacks rows that it had accepted')
    // Where QuestDB does not sync, the age of segments also allows their removal.
    else if (seen === 'applied' || !isSynced) this.#isTrimDue = true
  }

  /** A file error is unrelated to QuestDB: it is logged and retried. */
  async #trim(): Promise<void> {
    const { applyTracker, recorder, retention, issues, sleeper } = this.#options
    // A rewind or a copy is in progress.
    if (this.#options.sent() === undefined || retention.isHeld) return
    if (recorder !== undefined) await this.#record(recorder)
    const position = recorder?.position ?? applyTracker.position
    if (this.#options.sent() === undefined || retention.isHeld) return
    try {
      if (this.#isTrimDue) retention.trim(position)
      else retention.saveCheckpointIfDue(position)
      this.#isTrimDue = position < applyTracker.position
      issues.noteFile('trim', undefined)
    } catch (error) {
      if (!isSystemError(error)) throw error
      issues.noteFile('trim', error.message)
      await sleeper.sleep(pauseMs)
    }
  }

  async #record(recorder: PositionRecorder): Promise<void> {
    const { applyTracker, issues, sleeper } = this.#options
    try {
      await recorder.record(applyTracker.position, applyTracker.appliedTxns)
      if (this.#isRecordFailing) issues.note(undefined)
      this.#isRecordFailing = false
    } catch (error) {
      this.#isRecordFailing = true
      issues.noteUnavailable(error instanceof Error ? error.message : String(error))
      await sleeper.sleep(pauseMs)
    }
  }

  /** A QuestDB without sync may lose applied rows even while nothing is sent. */
  #isPollDue(): boolean {
    const { commitMode, timing } = this.#options
    return !commitMode.isSynced && timing.monotonicMs() - this.#polledAtMs >= watchMs
  }

  /** A QuestDB that syncs now and did not before has restarted, even if no outage was seen. */
  #mayHaveLost(isSynced: boolean): boolean {
    const { commitMode, issues, keepMs } = this.#options
    return keepMs > 0 && !commitMode.isSynced && (issues.wasUnavailable || isSynced)
  }
}
