/** One process of the model: what it recovers, its journal's writer and its forwarder, until it is stopped. */

import { readCheckpoint } from '../../ingest/checkpoint.ts'
import type { Disk } from '../../ingest/disk.ts'
import { Forwarder, type ForwarderStatus } from '../../ingest/forwarder.ts'
import type { QuestdbConnection } from '../../ingest/questdb.ts'
import { recoverJournal } from '../../ingest/recovery.ts'
import { SegmentWriter } from '../../ingest/segment-writer.ts'
import { createStamper, type Stamper } from '../../ingest/stamp.ts'
import { revisionSlots } from '../../ingest/touched.ts'
import type { Random } from '../faults/seeded-random.ts'
import { silentLog } from './databases.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface ModelProcess {
  /** When it is set to false, the process does nothing any more. */
  isAlive: boolean
  durableEnd: number
  status: ForwarderStatus | undefined
  stamper: Stamper
  writer: SegmentWriter
}

export interface ModelProcessOptions {
  disk: Disk
  connect: (isAlive: () => boolean) => QuestdbConnection
  keepMs: number
  nowUs: () => number
  time: VirtualTime
  random: Random
}

const segmentBytes = 2000

export function startProcess({ disk, connect, keepMs, nowUs, time, random }: ModelProcessOptions): ModelProcess {
  const { end, start } = recoverJournal(disk)
  const process: ModelProcess = {
    isAlive: true,
    durableEnd: end.position,
    status: undefined,
    stamper: createStamper({ nowUs, floorUs: end.highestStampUs }),
    writer: new SegmentWriter({ disk, end, reserveBytes: 0, segmentBytes }),
  }
  const forwarder = new Forwarder({
    disk,
    connections: Array.from({ length: 4 }, () => connect(() => process.isAlive)),
    requestBytes: 4096,
    durableEnd: () => process.durableEnd,
    from: keepMs > 0 ? start : readCheckpoint(disk, end.position),
    endOrdinal: end.ordinal,
    paceMs: 500,
    outwaitMs: 3000,
    keepMs,
    keepBytesMax: 1e9,
    revisions: new Int32Array(revisionSlots),
    nowMs: () => nowUs() / 1000,
    timing: {
      monotonicMs: time.nowMs,
      after: (ms, work) => time.after(ms, () => process.isAlive && work()),
      random: random.next,
    },
    log: silentLog,
    onStatus: status => {
      process.status = status
    },
  })
  forwarder.run()
  return process
}
