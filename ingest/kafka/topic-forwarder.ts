/**
 * Forwards one topic for as long as this process holds its replica: runs the forwarder's thread over a spool of the topic, and
 * about once a second brings what PostgreSQL has of the topic up to date: the committed offset with the dead letters before it,
 * the status, what was erased.
 */

import type { Log } from '../../store/log.ts'
import { holdMs } from '../../store/postgres/held-lock/heartbeat.ts'
import { OutcomeUnknown } from '../../store/postgres/postgres-errors.ts'
import { QuestdbError } from '../../store/questdb/client/questdb-error.ts'
import type { ForwarderStatus } from '../forwarder/forwarder-status.ts'
import type { Settled } from '../forwarder/settle-position.ts'
import type { KafkaOptions } from './connect.ts'
import type { ForwardStatus } from './forward-status.ts'
import { isKafkaError, messageOf } from './kafka-errors.ts'
import { LetterFiles } from './letter-files.ts'
import { TooManyLetters } from './replica-letters.ts'
import type { HeldReplica } from './replica-lock.ts'
import type { ReplicaState } from './replica-state.ts'
import type { TopicSettler } from './settle-topics.ts'
import type { SpoolStatus } from './spool-status.ts'
import { TombstoneWork } from './tombstone-work.ts'
import {
  type ForwardedTopic,
  type QuestdbStart,
  startTopicThread,
  statusAtBegin,
  type TopicThread,
  type TopicThreadOptions,
} from './topic-thread.ts'

export interface TopicForwarderOptions extends ForwardedTopic {
  kafka: KafkaOptions
  /** How much the spool holds, and what it leaves free on the disk. */
  bytesMax: number
  reserveBytes: number
  /** How long applied rows are kept for a QuestDB that does not sync what it applies. */
  keepMs: number
  replica: Pick<HeldReplica, 'epoch' | 'hold' | 'waitMs'>
  state: ReplicaState
  /** QuestDB as it is now; resolves when it is there. */
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
  /** A thread of before, which QuestDB may yet take rows of. */
  #mayHaveSentLate = false
  /** Why nothing is sent: QuestDB has not what it had, or does not say. */
  #unfit: string | undefined
  /** What stands in PostgreSQL may be lower than what the thread began with. */
  #isRestartDue = false
  #losses = 0
  /** The first offset that QuestDB may lack, as PostgreSQL has it; undefined when nothing was committed. */
  #committed: number | undefined
  /** What QuestDB had when this began; see ForwardStatus. */
  #appliedBefore: number | undefined
  #published = ''
  #prunedAtMs = Number.NEGATIVE_INFINITY
  /** Where the topic began then. */
  #startAtPrune = 0

  constructor(options: TopicForwarderOptions) {
    const { topic, table, state, directory } = options
    this.#options = options
    this.#tombstones = new TombstoneWork(topic, state)
    this.#letters = new LetterFiles(table, directory)
  }

  /** To be called about once a second, one call after the other. Throws errors of PostgreSQL; then it is to be called again. */
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
   * Stops the thread, without waiting for requests in flight when it is aborted. May be called while a tick runs, which starts
   * nothing any more. When QuestDB may yet take rows of this process, the offset that all of them stand at or behind.
   */
  async stop(isAborted: boolean): Promise<number | undefined> {
    this.#isStopped = true
    const running = this.#running
    await running?.handle.stop(isAborted)
    this.#mayHaveSentLate ||= running?.port.mayHaveSentLate() ?? false
    return this.#mayHaveSentLate ? (running?.port.status()?.kept ?? this.#committed ?? 0) : undefined
  }

  /** What the thread has told before it was stopped. Throws errors of PostgreSQL. */
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
    // Before the first request, so that nobody takes rows that are sent again for ones that have come in before.
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

  /** Has the committed offset fit what QuestDB has. The key of the topic there; undefined when nothing may be sent. */
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
    // A process that gave the replica back has nothing in flight.
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

  /** Whether the thread has to begin anew, from what PostgreSQL has. */
  async #hasToRestart(spool: SpoolStatus | undefined): Promise<boolean> {
    const { topic, state } = this.#options
    // The spool is a copy: what is damaged in it is fetched anew, before anything behind it is committed.
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
    // Behind that status: each letter of before its offset is in a file now.
    const { letters, damaged } = await this.#letters.list(spool.letters)
    if (damaged.length > 0) {
      // The topic still has their records, as the offset behind them is not committed.
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
      // Others are to learn of it, and of what can be seen.
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
   * What the topic has had no records of for an hour: a record that a node had let in before its series was erased may stand
   * a little behind the offset of the tombstone.
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
