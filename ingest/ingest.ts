/** The entry point of this folder: accepts readings and points, makes them durable, and forwards them to QuestDB. */

import type { ForwarderStatus } from './forwarder/forwarder-status.ts'
import type { JournalStatus } from './journal/journal.ts'
import type { Timed } from './journal/record.ts'
import { clockStepUs, type WallClock } from './journal/wall-clock.ts'
import type { PointValues } from './point.ts'
import { points, pointWriter, type SeriesRef } from './points-table.ts'
import type { Reading } from './reading.ts'
import { type DeviceRef, readings, readingWriter } from './readings-table.ts'
import { type ForwardingWritePath, openWritePath, type WritePath, type WritePathOptions } from './write-path.ts'

export type { DeadLetters } from './dead-letters.ts'

/** Each write path has a journal, and therefore a directory, of its own. */
export interface IngestOptions extends Omit<WritePathOptions<DeviceRef, Reading>, 'table' | 'writer' | 'clock'> {
  clock: WallClock
}

export interface IngestStatus {
  journal: JournalStatus
  forwarder: ForwarderStatus
  /** Rows in the journal that are not yet visible to queries, and the age of the oldest. */
  lag: { rows: number; seconds: number }
  /** The time for which rows of other nodes may be missing here, and the reason. Undefined for a single node. */
  unread: { seconds: number; reason: string | undefined } | undefined
  /** Clock steps since the start, and how far the newest timestamp is ahead of the clock. */
  clock: { steps: number; aheadSeconds: number }
}

/** A write path with its status. */
interface TableIngest<Series, Values extends Timed> extends Omit<WritePath<Series, Values>, 'status'> {
  /** The system's clock, epoch microseconds. */
  clockUs(): number
  status(): IngestStatus
}

/** The write path of the readings. Their series are the devices. */
export type Ingest = TableIngest<DeviceRef, Reading>
/** The write path of the points. Their series are the parameters of the stations. */
export type PointsIngest = TableIngest<SeriesRef, PointValues>

/** Present where this process forwards its own journal. */
type Forwarding = Pick<ForwardingWritePath<never, never>, 'startForwarding' | 'raiseStamps' | 'pause' | 'rewind'>
export type ForwardingIngest = Ingest & Forwarding
export type ForwardingPointsIngest = PointsIngest & Forwarding

export function openIngest(options: IngestOptions): ForwardingIngest {
  return withStatus(openWritePath({ ...options, table: readings, writer: readingWriter }), options.clock)
}

export function openPointsIngest(options: IngestOptions): ForwardingPointsIngest {
  return withStatus(openWritePath({ ...options, table: points, writer: pointWriter }), options.clock)
}

export function withStatus<Path extends Pick<WritePath<never, never>, 'status' | 'shared'>>(
  writePath: Path,
  clock: WallClock,
): Omit<Path, 'status'> & Pick<Ingest, 'clockUs' | 'status'> {
  return { ...writePath, clockUs: clock.nowUs, status: () => statusOf(writePath, clock) }
}

function statusOf(
  { status, shared }: Pick<WritePath<never, never>, 'status' | 'shared'>,
  clock: WallClock,
): IngestStatus {
  const { journal, forwarder } = status()
  const unread = shared && { seconds: shared.unreadSeconds(), reason: shared.issue() }
  const nowUs = clock.nowUs()
  const rows = Math.max(0, journal.ordinal - forwarder.appliedOrdinal)
  const sinceUs = rows > 0 ? forwarder.pendingSinceUs : undefined
  const seconds = sinceUs === undefined ? 0 : Math.max(0, (nowUs - sinceUs) / 1_000_000)
  const aheadUs = journal.highestStampUs - nowUs
  const aheadSeconds = aheadUs > clockStepUs ? aheadUs / 1_000_000 : 0
  return { journal, forwarder, lag: { rows, seconds }, unread, clock: { steps: clock.steps(), aheadSeconds } }
}
