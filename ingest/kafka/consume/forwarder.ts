/**
 * Forwards one topic while this process holds its replica: runs the forwarder's thread over a spool of the topic, and updates
 * PostgreSQL about once a second: the committed offset with the dead letters before it, the status, and confirmed erasures.
 */

import type { Log } from '../../../store/log.ts'
import { holdMs } from '../../../store/postgres/held-lock.ts'
import { OutcomeUnknown } from '../../../store/postgres/postgres-errors.ts'
import { QuestdbError } from '../../../store/questdb/client/questdb-error.ts'
import { type DeadLetter, deadLettersMax, isWhole, listDeadLetters } from '../../forwarder/dead-letters.ts'
import type { ForwarderStatus } from '../../forwarder/forwarder-status.ts'
import type { Settled } from '../../forwarder/settle-position.ts'
import type { TableDescription } from '../../table.ts'
import type { KafkaOptions } from '../client/connect.ts'
import { isKafkaError, messageOf } from '../client/errors.ts'
import type { ForwardStatus, SpoolStatus } from '../state/forward-status.ts'
import { TooManyLetters } from '../state/letters.ts'
import type { HeldReplica } from '../state/lock.ts'
import type { TopicSettler } from '../state/settle.ts'
import type { ReplicaState } from '../state/state.ts'
import {
  type ForwardedTopic,
  type QuestdbStart,
  startTopicThread,
  statusAtBegin,
  type TopicThread,
  type TopicThreadOptions,
} from './thread.ts'
import { TombstoneWork } from './tombstones.ts'

export interface TopicForwarderOptions extends ForwardedTopic {
  kafka: KafkaOptions
  /** Size limit of the spool, and the free space that it leaves on the disk. */
  bytesMax: number
  reserveBytes: number
  /** Time for which applied rows are kept for a QuestDB without sync. */
  keepMs: number
  replica: Pick<HeldReplica, 'epoch' | 'hold' | 'waitMs'>
  state: ReplicaState
  /** Resolves with the present QuestDB once it is reachable. */
  openQuestdb: () => Promise<QuestdbStart>
  settle: TopicSettler['settle']
  log: Log
  onFatal: (error: Error) => void
}

const quiesceMs = 3000
const pruneEveryMs = 3_600_000

export class TopicForwarder {
  readonly #options: TopicForwarderOptions
  readonly #tombstones: TombstoneWork
  readonly #letters: LetterFiles
  #running: TopicThread | undefined
  #isStopped = false
  /** QuestDB may still accept rows of an earlier thread. */
  #mayHaveSentLate = false
  /** Reason why nothing is sent: QuestDB lacks earlier rows, or does not answer. */
  #unfit: string | undefined
  /** The offset in PostgreSQL may be lower than the thread's start. */
  #isRestartDue = false
  #losses = 0
  /** The first offset that QuestDB may lack, as in PostgreSQL. Undefined when nothing was committed. */
  #committed: number | undefined
  /** Applied offset at the takeover; see ForwardStatus. */
  #appliedBefore: number | undefined
  #published = ''
  #prunedAtMs = Number.NEGATIVE_INFINITY
  /** Start of the topic at the last pruning. */
  #startAtPrune = 0

  constructor(options: TopicForwarderOptions) {
    const { topic, table, state, directory } = options
    this.#options = options
    this.#tombstones = new TombstoneWork(topic, state)
    this.#letters = new LetterFiles(table, directory)
  }

  /** Call it about once a second, one call at a time. Throws errors of PostgreSQL, after which it has to be called again. */
  async tick(): Promise<void> {
    const running = this.#running
    const spool = running?.port.status()
    if (running === undefined || (await this.#hasToRestart(spool))) {
      await this.#restart()
      return
    }
    if (spool !== undefined) await this.#commit(running, spool)
    await this.#tombstones.work((series, before) => running.handle.erase(series, before))
    await this.#prune(spool)
  }

  status(): ForwardStatus {
    const forwarder = this.#running?.handle.status() ?? this.#statusAtBegin
    return this.#statusOf(forwarder, this.#running?.port.status())
  }

  /**
   * Stops the thread, with `isAborted` without waiting for requests in flight. It may be called during a tick, which then starts
   * nothing any more. Returns the lowest offset of rows of this process that QuestDB may still accept, or undefined.
   */
  async stop(isAborted: boolean): Promise<number | undefined> {
    this.#isStopped = true
    const running = this.#running
    await running?.handle.stop(isAborted)
    this.#mayHaveSentLate ||= running?.port.mayHaveSentLate() ?? false
    return this.#mayHaveSentLate ? (running?.port.status()?.kept ?? this.#committed ?? 0) : undefined
  }

  /** Commits the thread's final report. Throws errors of PostgreSQL. */
  async commitLast(): Promise<void> {
    const spool = this.#running?.port.status()
    if (this.#running !== undefined && spool?.isDamaged === false) await this.#commit(this.#running, spool)
  }

  async #restart(): Promise<void> {
    const before = this.#running
    if (before !== undefined) {
      await before.handle.stop()
      this.#mayHaveSentLate ||= before.port.mayHaveSentLate()
      before.port.close()
      this.#running = undefined
      this.#losses++
    }
    await this.#start()
    this.#isRestartDue = false
  }

  get #statusAtBegin(): ForwarderStatus {
    return this.#unfit === undefined ? statusAtBegin : { ...statusAtBegin, issue: this.#unfit }
  }

  async #start(): Promise<void> {
    const { topic, state, openQuestdb } = this.#options
    const questdb = await openQuestdb()
    const journalId = await this.#settle()
    const { offset, tombstones } = await state.load(topic)
    this.#appliedBefore = await state.appliedOffset(topic)
    this.#committed = offset
    // Published before the first request, so that readers do not mistake rows sent again for earlier ones.
    await this.#publish(this.#statusOf(this.#statusAtBegin, undefined))
    if (this.#isStopped || journalId === undefined) return
    this.#letters.restart()
    this.#tombstones.restart()
    this.#running = this.#startThread({
      from: offset,
      appliedBefore: this.#appliedBefore,
      erased: tombstones.map(([series]) => series),
      questdb,
      journalId,
    })
  }

  /** Aligns the committed offset with QuestDB's rows. Returns the key of the topic there. Undefined when nothing may be sent. */
  async #settle(): Promise<string | undefined> {
    const { topic, state } = this.#options
    const { offset } = await state.load(topic)
    const settled = await this.#trySettle(offset)
    if (settled === undefined) return undefined
    if (settled.kind === 'unfit') {
      this.#noteUnfit(settled.issue)
      return undefined
    }
    this.#noteUnfit(undefined)
    if (settled.kind === 'again') {
      this.#losses++
      this.#options.log.warn({ topic, from: settled.from, reason: settled.issue }, 'replaying the topic')
      await state.requestRewind(topic, settled.from)
      await state.takeRewind(topic)
    }
    return settled.id
  }

  /** Undefined when QuestDB or Kafka does not answer. */
  async #trySettle(offset: number | undefined): Promise<Settled | undefined> {
    try {
      return await this.#options.settle(this.#options.topic, offset, async () => await this.#running?.handle.stop())
    } catch (error) {
      if (!(error instanceof QuestdbError || isKafkaError(error))) throw error
      if (this.#running === undefined) this.#noteUnfit(messageOf(error))
      return undefined
    }
  }

  #noteUnfit(issue: string | undefined): void {
    const { topic, log } = this.#options
    if (issue !== undefined && issue !== this.#unfit) log.error({ topic, reason: issue }, 'nothing is forwarded')
    this.#unfit = issue
  }

  #startThread(
    begin: Pick<TopicThreadOptions, 'from' | 'appliedBefore' | 'erased' | 'questdb' | 'journalId'>,
  ): TopicThread {
    const { topic, table, directory, damagedDirectory, kafka, replica, log, onFatal, ...options } = this.#options
    const { bytesMax, reserveBytes, keepMs } = options
    // A process that released the replica has nothing in flight.
    const waitMs = this.#mayHaveSentLate ? holdMs : replica.waitMs
    const thread = startTopicThread({
      topic,
      table,
      directory,
      damagedDirectory,
      kafka,
      bytesMax,
      reserveBytes,
      keepMs,
      ...begin,
      predecessorMs: waitMs > 0 ? waitMs + quiesceMs : 0,
      hold: replica.hold,
      log,
      onFatal,
    })
    thread.handle.onLost(() => {
      this.#losses++
    })
    return thread
  }

  /** True when the thread has to restart from the state in PostgreSQL. */
  async #hasToRestart(spool: SpoolStatus | undefined): Promise<boolean> {
    const { topic, state } = this.#options
    // The spool is a copy: damaged parts are fetched again before anything after them is committed.
    if (spool?.isDamaged) return true
    const settled = await this.#trySettle(this.#committed)
    if (settled !== undefined && settled.kind !== 'fits') return true
    if (spool?.endsAt !== undefined) await state.requestRewind(topic, spool.endsAt)
    try {
      return (await state.takeRewind(topic)) !== undefined || this.#isRestartDue
    } catch (error) {
      this.#isRestartDue ||= error instanceof OutcomeUnknown
      throw error
    }
  }

  async #commit({ handle }: TopicThread, spool: SpoolStatus): Promise<void> {
    const { topic, state, log } = this.#options
    // Listed after that status: each dead letter before its offset is in a file now.
    const { letters, damaged } = await this.#letters.list(spool.letters)
    if (damaged.length > 0) {
      // The topic still has their records, since the offset after them is not committed.
      if (!this.#isRestartDue)
        log.warn({ topic, files: damaged }, 'dead letters of the spool are damaged, reading the topic again')
      this.#isRestartDue = true
      return
    }
    const status = this.#statusOf(handle.status(), spool)
    const text = JSON.stringify(status)
    if (spool.committable === this.#committed && letters.length === 0 && text === this.#published) return
    try {
      await state.commit(topic, spool.committable, letters, status)
    } catch (error) {
      // Other processes need this fault, and the visible offset.
      if (error instanceof TooManyLetters) await this.#publish(status)
      throw error
    }
    this.#committed = Math.max(spool.committable, this.#committed ?? 0)
    this.#published = text
    if (letters.length === 0) return
    const ids = letters.map(({ id }) => id)
    this.#letters.moved(ids)
    void handle.lettersRemoved(ids)
  }

  async #publish(status: ForwardStatus): Promise<void> {
    await this.#options.state.publish(this.#options.topic, status)
    this.#published = JSON.stringify(status)
  }

  #statusOf(forwarder: ForwarderStatus, spool: SpoolStatus | undefined): ForwardStatus {
    const { epoch: tenure } = this.#options.replica
    const applied = spool?.applied ?? this.#committed ?? 0
    const appliedBefore = this.#losses === 0 ? this.#appliedBefore : undefined
    return { tenure, losses: this.#losses, applied, appliedBefore, sequenced: spool?.sequenced, forwarder, spool }
  }

  /**
   * Removes tombstones of records that left the topic an hour ago: a record admitted at a node before the erasure may lie
   * slightly after the tombstone's offset.
   */
  async #prune(spool: SpoolStatus | undefined): Promise<void> {
    const { topic, state } = this.#options
    const nowMs = performance.now()
    if (spool === undefined || nowMs - this.#prunedAtMs < pruneEveryMs) return
    if (this.#startAtPrune > 0) await state.pruneTombstones(topic, this.#startAtPrune)
    this.#startAtPrune = spool.range.start
    this.#prunedAtMs = nowMs
  }
}

/** The forwarder's files of dead letters, until they are in PostgreSQL. */
export class LetterFiles {
  readonly #table: TableDescription
  readonly #directory: string
  /** Dead letters in PostgreSQL whose files are being removed. */
  readonly #moved = new Set<number>()

  constructor(table: TableDescription, directory: string) {
    this.#table = table
    this.#directory = directory
  }

  /** The folder was recreated. */
  restart(): void {
    this.#moved.clear()
  }

  /** Dead letters that may be missing in PostgreSQL, and the names of damaged ones. At most `count` files exist. */
  async list(count: number): Promise<{ letters: DeadLetter[]; damaged: string[] }> {
    const listed = count === 0 ? [] : await listDeadLetters(this.#table, this.#directory, -1, deadLettersMax)
    const left = new Set(listed.map(({ id }) => id))
    for (const id of this.#moved) if (!left.has(id)) this.#moved.delete(id)
    const due = listed.filter(({ id }) => !this.#moved.has(id))
    return { letters: due.filter(isWhole), damaged: due.flatMap(letter => (isWhole(letter) ? [] : [letter.name])) }
  }

  /** Marks dead letters as stored in PostgreSQL before their files are removed. */
  moved(ids: readonly number[]): void {
    for (const id of ids) this.#moved.add(id)
  }
}
