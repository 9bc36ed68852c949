/** The door of this folder: readings in, on disk when it says so, and on their way to QuestDB. */

import { Worker } from 'node:worker_threads'
import type { Log } from '../store/log.ts'
import type { QuestdbHttp } from '../store/questdb/client/questdb-address.ts'
import { threadLimits } from '../store/thread-limits.ts'
import { createErasures } from './erasures.ts'
import {
  type DeadLetter,
  deadLettersMax,
  listDeadLetters,
  recordOf,
  removeDeadLetter,
} from './forwarder/dead-letters.ts'
import { type ForwarderStatus, statusAtStart } from './forwarder/forwarder-status.ts'
import type { ForwarderCommand, ForwarderMessage, ForwarderThreadData } from './forwarder/forwarder-thread.ts'
import { openSentPort } from './forwarder/sent-port.ts'
import { revisionSlots } from './forwarder/touched.ts'
import { openDisk } from './journal/disk.ts'
import { groupBodyMax } from './journal/group.ts'
import { Journal, type JournalStatus, type Outcome } from './journal/journal.ts'
import { type DeviceRef, offsetOf } from './journal/record.ts'
import { clockStepUs, createWallClock, type WallClock } from './journal/wall-clock.ts'
import type { Reading } from './reading.ts'

export interface IngestOptions {
  /** The journal's own directory. */
  directory: string
  journalBytesMax: number
  reserveBytes: number
  /** How long applied segments are kept for a QuestDB that does not sync what it applies. */
  keepMs: number
  /** The system's clock, epoch milliseconds; may be set. */
  nowMs: () => number
  log: Log
  /** Called when a thread has died: the process cannot keep its promise any more. */
  onFatal: (error: Error) => void
}

export interface IngestStatus {
  journal: JournalStatus
  forwarder: ForwarderStatus
  /** Readings on disk that no query shows yet, and for how long the oldest of them has waited. */
  lag: { readings: number; seconds: number }
  /** How often the clock was set since the start, and how far the newest stamp lies ahead of it. */
  clock: { steps: number; aheadSeconds: number }
}

export interface DeadLetters {
  /** By position in the journal, ascending, behind the one with id `after`. */
  list(after: number, limit: number): Promise<DeadLetter[]>
  /** Appends their readings anew and removes the letters; all of them when no ids are given. */
  replay(ids?: number[]): Promise<{ replayed: number; outcome: Outcome }>
  /** Removes letters and their readings for good. */
  discard(ids: readonly number[]): Promise<void>
}

export interface Ingest {
  /** Takes one reading; its promise resolves when the reading is on disk, or says why nothing was stored. */
  accept(device: DeviceRef, reading: Reading): Promise<Outcome>
  /** Takes whole records of any length; resolves when all are on disk, or with the first refusal. */
  append(records: Uint8Array): Promise<Outcome>
  /** The system's clock, epoch microseconds. */
  clockUs(): number
  /** Raised whenever rows of the device became visible. Two devices may share one. */
  revision(deviceNumber: number): number
  /**
   * The time of the oldest row that was sent since this transaction of QuestDB's table, microseconds; Infinity when there
   * is none. Never ask for an earlier transaction again.
   */
  oldestSentSince(txn: number): number
  /** Begins to forward: QuestDB is there, and we know whether it syncs what it applies. */
  startForwarding(questdb: QuestdbHttp, appliedIsSynced: boolean): void
  /** Calls it whenever QuestDB may have lost what it had applied, and the journal is sent again. */
  onLost(listener: (reason: string) => void): void
  /**
   * From now on nothing that these devices have sent goes to QuestDB, whatever is sent again and over any restart. They must
   * have been removed. Resolves when that is on the disk and no request is under way: with the position in the journal that
   * all of it stands before. Rejects while the journal takes nothing.
   */
  erase(deviceNumbers: readonly number[]): Promise<number>
  status(): IngestStatus
  deadLetters: DeadLetters
  /** Syncs what was taken and stops. Readings that are not forwarded stay in the journal. May be called twice. */
  close(): Promise<void>
}

/** Times further back than this belong to the backfill lane. */
const liveWindowUs = 5 * 60 * 1_000_000
const replayBatchMax = 1000
const clockWatchMs = 500
/** A request of this size holds some 70,000 rows. */
const requestBytes = 12 * 1024 * 1024
/** Pieces of bulk data; each leaves the journal's slot room for live readings. */
const pieceBytesMax = groupBodyMax / 4

export function openIngest(options: IngestOptions): Ingest {
  const { directory, log, keepMs, nowMs } = options
  const clockWatch = watchClock(nowMs, log)
  const { clock } = clockWatch
  const journal = openJournal(options, clock.nowUs)
  const revisions = new Int32Array(new SharedArrayBuffer(4 * revisionSlots))
  let forwarderStatus = statusAtStart(openDisk(directory), journal.recoveredEnd, journal.recoveredOrdinal)
  const sent = openSentPort()
  let closing: Promise<void> | undefined

  const workerData: ForwarderThreadData = {
    directory,
    durableEnd: journal.shared.durableEnd,
    end: { position: journal.recoveredEnd, ordinal: journal.recoveredOrdinal },
    revisions,
    sentPort: sent.port,
    requestBytes,
    connectionCount: 2,
    paceMs: 500,
    outwaitMs: 3000,
    requestIdleMs: 30_000,
  }
  const forwarder = new Worker(new URL('./forwarder/forwarder-thread.ts', import.meta.url), {
    workerData,
    transferList: [sent.port],
    resourceLimits: threadLimits.forwarder,
  })
  forwarder.on('message', (message: ForwarderMessage) => {
    if (message.kind === 'status') {
      sent.learn()
      forwarderStatus = message.status
      journal.trimmed(message.status.start)
    } else if (message.kind === 'fileFault') {
      forwarderStatus = { ...forwarderStatus, fileFault: message.fault }
    } else if (message.kind === 'erased') {
      erasures.erased(message.id)
    } else if (message.kind === 'log') {
      log[message.level](message.fields, message.text)
    }
  })
  forwarder.on('error', options.onFatal)
  const exited = exitOf(forwarder)
  const command = (message: ForwarderCommand) => forwarder.postMessage(message)

  const erasures = createErasures(journal, command)
  const append = (records: Uint8Array) => appendInPieces(journal, records)

  async function close(): Promise<void> {
    clockWatch.close()
    await journal.close()
    command({ kind: 'stop' })
    await exited
    sent.close()
  }

  return {
    accept: (device, reading) => new Promise(resolve => journal.append(device, reading, resolve)),
    append,
    clockUs: clock.nowUs,
    revision: deviceNumber => revisions[deviceNumber % revisionSlots] ?? 0,
    oldestSentSince: sent.oldestSince,
    startForwarding(questdb, isSynced) {
      command({ kind: 'start', questdb, isSynced, keepMs, keepBytesMax: options.journalBytesMax / 2 })
    },
    onLost: listener => void sent.lostListeners.push(listener),
    erase: erasures.erase,
    status: () => statusOf(journal.status(), forwarderStatus, clock),
    deadLetters: createDeadLetters(directory, append, () => command({ kind: 'recount' })),
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** Asked for before it ends, so that it is also known when the thread has died long before the close. */
function exitOf(thread: Worker): Promise<unknown> {
  return new Promise(resolve => thread.once('exit', resolve))
}

/** The times of readings follow the clock; somebody should know why they jump. It is looked at also while nobody sends. */
function watchClock(nowMs: () => number, log: Log): { clock: WallClock; close(): void } {
  const clock = createWallClock({
    nowMs,
    onStep(byUs) {
      const seconds = Math.round(byUs / 1000) / 1000
      log.warn({ seconds }, `the clock was set ${seconds > 0 ? 'forward' : 'back'}`)
    },
  })
  const timer = setInterval(clock.nowUs, clockWatchMs).unref()
  return { clock, close: () => clearInterval(timer) }
}

function openJournal(options: IngestOptions, nowUs: () => number): Journal {
  const { directory, reserveBytes, log, onFatal } = options
  return new Journal({
    ...{ directory, bytesMax: options.journalBytesMax, reserveBytes, liveWindowUs, nowUs, log, onFatal },
  })
}

async function appendInPieces(journal: Journal, records: Uint8Array): Promise<Outcome> {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  for (let from = 0; from < records.length; ) {
    const to = pieceEnd(view, from)
    const outcome = await journal.appendRecords(records.subarray(from, to))
    if (outcome !== 'stored') return outcome
    from = to
  }
  return 'stored'
}

/** As many whole records from `from` on as make one piece end here. */
function pieceEnd(view: DataView, from: number): number {
  let to = from
  while (to < view.byteLength) {
    const length = view.getUint16(to + offsetOf.length, true)
    if (to > from && to + length - from > pieceBytesMax) break
    to += length
  }
  return to
}

/** Dead letters from the outside: the forwarder puts them there, a person looks at them and sends them again. */
function createDeadLetters(
  directory: string,
  append: (records: Uint8Array) => Promise<Outcome>,
  onRemoved: () => void,
): DeadLetters {
  async function replayBatch(letters: DeadLetter[]): Promise<Outcome> {
    const outcome = await append(Buffer.concat(letters.map(recordOf)))
    if (outcome === 'stored') await Promise.all(letters.map(letter => removeDeadLetter(directory, letter.id)))
    return outcome
  }

  return {
    list: (after, limit) => listDeadLetters(directory, after, limit),
    async discard(ids) {
      await Promise.all(ids.map(id => removeDeadLetter(directory, id)))
      onRemoved()
    },
    async replay(ids) {
      const letters = await listDeadLetters(directory, -1, deadLettersMax)
      const chosen = letters.filter(letter => ids === undefined || ids.includes(letter.id))
      let replayed = 0
      let outcome: Outcome = 'stored'
      while (replayed < chosen.length && outcome === 'stored') {
        const batch = chosen.slice(replayed, replayed + replayBatchMax)
        outcome = await replayBatch(batch)
        if (outcome === 'stored') replayed += batch.length
      }
      onRemoved()
      return { replayed, outcome }
    },
  }
}

function statusOf(journal: JournalStatus, forwarder: ForwarderStatus, clock: WallClock): IngestStatus {
  const nowUs = clock.nowUs()
  const readings = Math.max(0, journal.ordinal - forwarder.appliedOrdinal)
  const sinceUs = readings > 0 ? forwarder.pendingSinceUs : undefined
  const seconds = sinceUs === undefined ? 0 : Math.max(0, (nowUs - sinceUs) / 1_000_000)
  const aheadUs = journal.highestStampUs - nowUs
  const aheadSeconds = aheadUs > clockStepUs ? aheadUs / 1_000_000 : 0
  return { journal, forwarder, lag: { readings, seconds }, clock: { steps: clock.steps(), aheadSeconds } }
}
