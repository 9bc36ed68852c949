/** One process of the model: its journal and its forwarder, until it is stopped. */

import { revisionSlots } from '../../../ingest/forwarder/apply-tracker.ts'
import { Forwarder } from '../../../ingest/forwarder/forwarder.ts'
import type { ForwarderStatus } from '../../../ingest/forwarder/forwarder-status.ts'
import type { QuestdbConnection } from '../../../ingest/forwarder/questdb.ts'
import { replayStart } from '../../../ingest/forwarder/segment-retention.ts'
import type { Disk } from '../../../ingest/journal/disk.ts'
import { Journal } from '../../../ingest/journal/journal.ts'
import { createCommitter, type JournalThreadData } from '../../../ingest/journal/journal-shared.ts'
import { type JournalThread, type JournalThreadHooks, openSegmentsMedium } from '../../../ingest/journal/medium.ts'
import { SegmentWriter } from '../../../ingest/journal/segment-writer.ts'
import { readCheckpoint } from '../../../ingest/journal/segments.ts'
import type { Reading } from '../../../ingest/reading.ts'
import { type DeviceRef, readings, readingWriter } from '../../../ingest/readings-table.ts'
import type { Timing } from '../../../ingest/timing.ts'
import type { Random } from '../../faults/seeded-random.ts'
import { silentLog } from '../../support/databases.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface ModelProcess {
  /** When it is set to false, the process does nothing any more. */
  isAlive: boolean
  journal: Journal<DeviceRef, Reading>
  forwarder: Pick<Forwarder, 'erase'>
  status: ForwarderStatus | undefined
}

export interface ModelProcessOptions {
  disk: Disk
  connect: (isAlive: () => boolean) => QuestdbConnection
  keepMs: number
  nowUs: () => number
  time: VirtualTime
  random: Random
  customSeries: Uint32Array
}

/** A journal makes segments of an eighth of it. */
const journalBytesMax = 16_000
const liveWindowUs = 20_000_000

export function startProcess(options: ModelProcessOptions): ModelProcess {
  const { disk, connect, keepMs, nowUs, time, random, customSeries } = options
  const after: Timing['after'] = (ms, work) => time.after(ms, () => process.isAlive && work())
  const medium = openSegmentsMedium({
    disk,
    directory: '',
    bytesMax: journalBytesMax,
    reserveBytes: 0,
    nowUs,
    log: silentLog,
    startThread: (data, hooks) => simulateThread(disk, data, hooks, work => after(random.below(50), work)),
  })
  const journal = new Journal({
    writer: readingWriter,
    medium,
    liveWindowUs,
    nowUs,
    log: silentLog,
    onFatal: error => {
      throw error
    },
    after,
  })
  const process: Omit<ModelProcess, 'forwarder'> = { isAlive: true, journal, status: undefined }
  const { position, ordinal } = medium.end
  const nowMs = () => nowUs() / 1000
  const timing: Timing = { monotonicMs: time.nowMs, after, random: random.next }
  const from = keepMs > 0 ? replayStart({ disk, timing, keepMs }, position) : readCheckpoint(disk, position)
  const forwarder = new Forwarder({
    table: readings,
    disk,
    connections: Array.from({ length: 4 }, () => connect(() => process.isAlive)),
    requestBytes: 4096,
    durableEnd: () => Number(journal.shared.durableEnd[0]),
    from,
    predecessorMs: from < position ? 1000 : 0,
    letterId: position => position,
    endOrdinal: ordinal,
    paceMs: 500,
    quiesceMs: 3000,
    isSynced: keepMs === 0,
    customSeries,
    keepMs,
    keepBytesMax: 1e9,
    revisions: new Int32Array(revisionSlots),
    nowMs,
    timing,
    log: silentLog,
    onSent: () => undefined,
    onStatus: status => {
      process.status = status
      journal.trimmed(status.start)
    },
  })
  forwarder.run()
  return Object.assign(process, { forwarder })
}

/** Simulates the journal's thread with a delay. */
function simulateThread(
  disk: Disk,
  { end, reserveBytes, segmentBytes, shared }: JournalThreadData,
  { onMessage }: JournalThreadHooks,
  later: (work: () => void) => void,
): JournalThread {
  const commit = createCommitter(new SegmentWriter({ disk, end, reserveBytes, segmentBytes }), shared)
  return {
    commit: () => later(() => onMessage(commit())),
    stop: () => Promise.resolve(),
  }
}
