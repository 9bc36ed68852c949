/** The entry point of this folder: takes readings, makes them durable, and forwards them to QuestDB. */

import type { Log } from '../store/log.ts'
import type { ForwarderStatus } from './forwarder/forwarder-status.ts'
import type { JournalStatus } from './journal/journal.ts'
import { clockStepUs, createWallClock, type WallClock } from './journal/wall-clock.ts'
import type { Reading } from './reading.ts'
import { type DeviceRef, readings, readingWriter } from './readings-table.ts'
import { openWritePath, type WritePath, type WritePathOptions } from './write-path.ts'

export type { DeadLetters } from './write-path.ts'

export interface IngestOptions
  extends Pick<
    WritePathOptions<DeviceRef, Reading>,
    'directory' | 'journalBytesMax' | 'reserveBytes' | 'keepMs' | 'log' | 'onFatal'
  > {
  /** The system's clock, epoch milliseconds; may be set. */
  nowMs: () => number
}

export interface IngestStatus {
  journal: Omit<JournalStatus, 'records'> & { readings: number }
  forwarder: ForwarderStatus
  /** Readings in the journal that are not yet visible to queries, and the age of the oldest. */
  lag: { readings: number; seconds: number }
  /** Clock steps since the start, and how far the newest timestamp is ahead of the clock. */
  clock: { steps: number; aheadSeconds: number }
}

/** The write path of the readings, whose series are the devices. */
export interface Ingest extends Omit<WritePath<DeviceRef, Reading>, 'status'> {
  /** The system's clock, epoch microseconds. */
  clockUs(): number
  status(): IngestStatus
}

const clockWatchMs = 500

export function openIngest(options: IngestOptions): Ingest {
  const { nowMs, log } = options
  const clockWatch = watchClock(nowMs, log)
  const { clock } = clockWatch
  const writePath = openWritePath({ ...options, table: readings, writer: readingWriter, clock })
  return {
    ...writePath,
    clockUs: clock.nowUs,
    status: () => statusOf(writePath.status(), clock),
    close() {
      clockWatch.close()
      return writePath.close()
    },
  }
}

/** Timestamps of readings follow the clock, so its steps are logged, also while no readings arrive. */
function watchClock(nowMs: () => number, log: Log): { clock: WallClock; close(): void } {
  const clock = createWallClock({
    nowMs,
    onStep(byUs) {
      const seconds = Math.round(byUs / 1000) / 1000
      log.warn({ seconds }, `clock stepped ${seconds > 0 ? 'forward' : 'back'}`)
    },
  })
  const timer = setInterval(clock.nowUs, clockWatchMs).unref()
  return { clock, close: () => clearInterval(timer) }
}

function statusOf(
  { journal: { records, ...journal }, forwarder }: { journal: JournalStatus; forwarder: ForwarderStatus },
  clock: WallClock,
): IngestStatus {
  const nowUs = clock.nowUs()
  const waiting = Math.max(0, journal.ordinal - forwarder.appliedOrdinal)
  const sinceUs = waiting > 0 ? forwarder.pendingSinceUs : undefined
  const seconds = sinceUs === undefined ? 0 : Math.max(0, (nowUs - sinceUs) / 1_000_000)
  const aheadUs = journal.highestStampUs - nowUs
  const aheadSeconds = aheadUs > clockStepUs ? aheadUs / 1_000_000 : 0
  return {
    journal: { ...journal, readings: records },
    forwarder,
    lag: { readings: waiting, seconds },
    clock: { steps: clock.steps(), aheadSeconds },
  }
}
