/** Opens the write paths on the journals of the data directory, or explains a failure in one sentence. */

import type { Metrics } from '../auth/metrics/metrics.ts'
import {
  type ForwardingIngest,
  type ForwardingPointsIngest,
  type Ingest,
  type IngestOptions,
  openIngest,
  openPointsIngest,
  type PointsIngest,
} from '../ingest/ingest.ts'
import { readHighestStamps } from '../ingest/journal/stamp-classes.ts'
import { watchClock } from '../ingest/journal/wall-clock.ts'
import type { TopicState } from '../ingest/kafka/state/watch.ts'
import { points } from '../ingest/points-table.ts'
import { readings } from '../ingest/readings-table.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import type { QuestdbReplica } from '../store/questdb/questdb-replicas.ts'
import { StartError } from '../store/start-error.ts'
import type { Store } from '../store/store.ts'
import { checkDiskJournals } from './check-positions.ts'
import type { Config } from './settings/config.ts'

export interface ServiceIngestOptions {
  config: Config
  directory: Pick<DataDirectory, 'journal' | 'pointsJournal'>
  nowMs: () => number
  log: Log
  onFatal: (error: Error) => void
}

export interface ServiceIngest {
  ingest: Ingest
  pointsIngest: PointsIngest
  /** Readings and points are accepted before QuestDB is ready, and forwarded from then on. */
  forward(store: Pick<Store, 'questdb' | 'postgres'>, metrics: Pick<Metrics, 'seriesPairs'>): void
  /** Replicas from 2 on; undefined with a single one. */
  customReplicas?: readonly QuestdbReplica[] | undefined
  /** Kafka topics that serve as journals; undefined with journals on disk. */
  topicStates?: (() => TopicState[]) | undefined
  close(): Promise<void>
}

export interface DiskIngest extends ServiceIngest {
  /** Call it before anything is accepted: receipt times continue above those assigned with Kafka. */
  passStamps(pool: Store['postgres']): Promise<void>
}

const hourMs = 3_600_000

export async function openServiceIngest(options: ServiceIngestOptions): Promise<DiskIngest> {
  const { config, directory, nowMs, log, onFatal } = options
  const clockWatch = watchClock(nowMs, log)
  const common = {
    journalBytesMax: config.JOURNAL_MAX,
    reserveBytes: config.JOURNAL_RESERVE,
    keepMs: config.JOURNAL_KEEP_HOURS * hourMs,
    clock: clockWatch.clock,
    log,
    onFatal,
  }
  const opened: { close(): Promise<void> }[] = []
  async function close(): Promise<void> {
    clockWatch.close()
    await Promise.all(opened.map(path => path.close()))
  }
  try {
    const ingest = openJournal(directory.journal, common, openIngest)
    opened.push(ingest)
    const pointsIngest = openJournal(directory.pointsJournal, common, openPointsIngest)
    opened.push(pointsIngest)
    const forward: ServiceIngest['forward'] = (store, metrics) => {
      forwardWhenReady(options, store, { ingest, pointsIngest }, metrics)
    }
    return {
      ingest,
      pointsIngest,
      forward,
      async passStamps(pool) {
        const highestUs = await readHighestStamps(pool)
        for (const path of [ingest, pointsIngest]) path.raiseStamps(highestUs)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Rows stay in their journals until QuestDB is ready and has the rows sent before. */
function forwardWhenReady(
  { config, directory, nowMs, onFatal }: ServiceIngestOptions,
  { questdb, postgres }: Pick<Store, 'questdb' | 'postgres'>,
  { ingest, pointsIngest }: { ingest: ForwardingIngest; pointsIngest: ForwardingPointsIngest },
  metrics: Pick<Metrics, 'seriesPairs'>,
): void {
  const { ready, address, commitMode } = questdb
  let isReady = false
  const startWith = (customSeries: () => Uint32Array) => () =>
    isReady ? { questdb: address.http, isSynced: commitMode() === 'sync', customSeries: customSeries() } : undefined
  const checkNow = questdb.guard(
    checkDiskJournals({
      database: postgres,
      journals: [
        { table: readings, directory: directory.journal, path: ingest, start: startWith(metrics.seriesPairs) },
        {
          table: points,
          directory: directory.pointsJournal,
          path: pointsIngest,
          start: startWith(() => new Uint32Array()),
        },
      ],
      acceptedMs: config.QUESTDB_ACCEPT_LOSS,
      nowMs,
    }),
  )
  ready.then(
    () => {
      isReady = true
      checkNow()
    },
    (error: Error) => {
      // It also rejects if the store is closed first, which is not an error.
      if (error instanceof StartError) onFatal(error)
    },
  )
}

function openJournal<Path>(
  directory: string,
  common: Omit<IngestOptions, 'directory'>,
  open: (options: IngestOptions) => Path,
): Path {
  try {
    return open({ ...common, directory })
  } catch (error) {
    throw isSystemError(error) ? journalError(directory, error) : error
  }
}

/** The earliest accepted time of a reading (ingest/reading.ts): an earlier clock is not set yet. */
const earliestMs = Date.UTC(2000, 0, 1)

/**
 * With a wrong clock, readings would be stored in the past, and those with their own times refused as from the future.
 */
export function assertClockIsSet(nowMs: number): void {
  if (nowMs >= earliestMs) return
  const text = new Date(nowMs).toISOString()
  throw new StartError(`The system clock is wrong (${text}): set it, then start again.`)
}

/** True for errors of the operating system. Others are bugs. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

const noRights = 'grant this user read and write permission.'
const remedies: Record<string, string> = {
  ENOSPC: 'free disk space.',
  EDQUOT: "free space within this user's quota.",
  EROFS: 'its file system is mounted read-only; remount it read-write.',
  EACCES: noRights,
  EPERM: noRights,
}

function journalError(path: string, { code = '', message }: NodeJS.ErrnoException): StartError {
  const remedy = remedies[code] ?? 'check this file and its disk. The journal is kept.'
  return new StartError(`The journal in ${path} cannot be opened (${message}): ${remedy}`)
}
