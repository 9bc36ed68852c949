/** The spool of a topic as the source of the forwarder's groups, in the forwarder's thread. */

import type { Log } from '../../../store/log.ts'
import type { ForwarderStatus } from '../../forwarder/forwarder-status.ts'
import type { GroupSource } from '../../forwarder/group-source.ts'
import type { QuestdbConnection, WriteAnswer } from '../../forwarder/questdb.ts'
import type { RequestBody } from '../../forwarder/write-request.ts'
import type { Disk } from '../../journal/disk.ts'
import type { TableDescription } from '../../table.ts'
import { Sleeper, type Timing } from '../../timing.ts'
import { DamagedGroups } from '../produce/group.ts'
import type { SpoolMessage, SpoolStatus } from '../state/forward-status.ts'
import { segmentShare } from '../state/watch.ts'
import { Spool } from './spool.ts'
import type { SpoolPartition } from './spool-reader.ts'

export interface SpoolSourceOptions {
  topic: string
  table: TableDescription
  /** Disk of the spool, initially empty, and of the folder for damaged groups. */
  disk: Disk
  damagedDisk: Disk
  bytesMax: number
  reserveBytes: number
  /** Start offset. Undefined for the start of the topic. */
  from: number | undefined
  /** See SpoolReaderOptions. */
  appliedBefore: number | undefined
  /** Erased series, custom ones given as `erasedCustom` numbers. */
  erased: readonly number[]
  /** Time for which applied segments are kept for a QuestDB without sync. */
  keepMs: number
  /** See GroupSource. */
  predecessorMs: number
  /** True while this process may send. */
  isHeld: () => boolean
  connect: () => { partition(topic: string): Promise<SpoolPartition>; close(): void }
  timing: Timing
  log: Log
  send: (message: SpoolMessage) => void
}

/** Starts fetching at once. */
export function openSpoolSource(options: SpoolSourceOptions): GroupSource {
  const { topic, disk, damagedDisk, keepMs, predecessorMs, isHeld, timing, log, send } = options
  const sleeper = new Sleeper(timing)
  const kafka = options.connect()
  const damaged = new DamagedGroups({ topic, disk: damagedDisk, log })
  const erased = new Set(options.erased)
  const segmentMs = keepMs > 0 ? keepMs * segmentShare : Number.POSITIVE_INFINITY
  const { monotonicMs } = timing
  const open = () => kafka.partition(topic)
  const spool = new Spool({ ...options, erased, segmentMs, monotonicMs, damaged, sleeper, open })
  const sends = createSendGuard(isHeld)
  let sequenced: SpoolStatus['sequenced']
  let sent = ''
  let latest = { position: 0, offset: 0 }
  void spool.run()

  /** The spool knows a lower offset for the same position once more is fetched. A report does not go back. */
  function offsetOf(applied: number): number | undefined {
    const offset = spool.offsetAt(applied)
    if (offset === undefined) return undefined
    latest = { position: applied, offset: applied < latest.position ? offset : Math.max(offset, latest.offset) }
    return latest.offset
  }

  function report({ applied, recorded, start, isSynced, deadLetters: letters, damagedBytes }: ForwarderStatus): void {
    const appliedOffset = offsetOf(applied)
    const { next, range, lostGroups, endsAt } = spool.reader
    if (appliedOffset === undefined || recorded === undefined || next === undefined) return
    // Where QuestDB may lose applied rows, a successor has to send the kept records again too.
    const kept = spool.offsetAt(start) ?? appliedOffset
    const committable = keepMs > 0 && !isSynced ? Math.min(kept, recorded) : recorded
    const offsets = { applied: appliedOffset, committable, kept, next, range, sequenced, endsAt }
    const counts = { letters, damagedGroups: damaged.count, lostGroups }
    const status: SpoolStatus = { ...offsets, ...counts, isDamaged: damagedBytes > 0, issue: spool.issue }
    const text = JSON.stringify(status)
    if (text === sent) return
    sent = text
    send({ kind: 'status', status })
  }

  return {
    disk,
    endOrdinal: 0,
    durableEnd: () => spool.end,
    start: () => 0,
    predecessorMs: () => predecessorMs,
    placeOf: position => spool.offsetAt(position),
    firstPlace: () => options.from,
    guard: sends.guard,
    letterId: position => spool.letterId(position),
    erase(seriesNumbers) {
      for (const number of seriesNumbers) erased.add(number)
      return spool.end
    },
    onSent(event) {
      if (event.kind === 'lost') sequenced = undefined
      else if (event.sequenced !== undefined) {
        const offset = spool.offsetAt(event.sequenced.position)
        if (offset !== undefined) sequenced = { txn: event.sequenced.txn, offset }
      }
    },
    onStatus(status) {
      report(status)
      spool.trimmed(status.start)
    },
    close() {
      sleeper.stop()
      kafka.close()
      send({ kind: 'closed', mayHaveSentLate: sends.mayHaveSentLate() })
    },
  }
}

const notHeld = 'this process does not hold the replica'

interface SendGuard {
  guard(connection: QuestdbConnection): QuestdbConnection
  /**
   * True when a request ended without an answer, or while the replica was not held: then QuestDB may accept its rows late. A
   * later success over the same connection clears it, since that waits for QuestDB first.
   */
  mayHaveSentLate(): boolean
}

/**
 * Blocks requests to QuestDB while the replica is not held: each request and each piece of one checks the clock. Tracks whether
 * QuestDB may still accept rows of this process after it has lost the replica.
 */
export function createSendGuard(isHeld: () => boolean): SendGuard {
  const unanswered = new Set<QuestdbConnection>()
  let isLate = false

  function note(connection: QuestdbConnection, answer: WriteAnswer): void {
    // The request may have been delayed, with a piece of it, until another process held the replica.
    if (!isHeld()) isLate = true
    if (answer.kind === 'unanswered') unanswered.add(connection)
    else if (answer.kind === 'stored') unanswered.delete(connection)
  }

  return {
    guard: connection => ({
      ...connection,
      async write(rows) {
        if (!isHeld()) return { kind: 'failed', status: undefined, message: notHeld }
        const answer = await connection.write(guardedBody(rows, isHeld))
        note(connection, answer)
        return answer
      },
    }),
    mayHaveSentLate: () => isLate || unanswered.size > 0,
  }
}

/** QuestDB drops an incomplete request. */
function guardedBody({ length, pieces }: RequestBody, isHeld: () => boolean): RequestBody {
  return {
    length,
    *pieces() {
      for (const piece of pieces()) {
        if (!isHeld()) throw new Error(notHeld)
        yield piece
      }
    },
  }
}
