/** Measures each hour how much of the disk the journals and the managed databases use, and how it grows. */

import type { Dirent } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DataDirectory } from '../../../store/data-directory.ts'
import type { Log } from '../../../store/log.ts'
import type { Config } from '../../settings/config.ts'
import { dayMs, horizonMs } from '../retention/horizon.ts'
import type { Retention } from '../retention/retention.ts'
import type { RetentionState } from '../retention/retention-state.ts'
import { readDisk } from './disk-space.ts'
import { type Forecast, forecast } from './forecast.ts'
import { addSample, type DiskSample, readSamples, writeSamples } from './samples.ts'

export interface DiskState extends Forecast {
  freeBytes: number
  totalBytes: number
  /** Measured in the last hour; undefined before the first measurement, and for data on other disks. */
  journalBytes: number | undefined
  questdbBytes: number | undefined
  postgresBytes: number | undefined
}

export interface DiskUse {
  read(): Promise<DiskState>
  /** Resolves after the first measurement. */
  measured: Promise<void>
  close(): Promise<void>
}

export interface DiskUseOptions {
  directory: Pick<DataDirectory, 'path' | 'journal' | 'pointsJournal' | 'questdb' | 'postgres'>
  /** An external database is not on this disk. */
  config: Pick<Config, 'QUESTDB_HTTP' | 'DATABASE_URL'>
  retention: Pick<Retention, 'state'>
  nowMs: () => number
  log: Log
}

const everyMs = 3_600_000

export function watchDiskUse({ directory, config, retention, nowMs, log }: DiskUseOptions): DiskUse {
  const isQuestdbManaged = config.QUESTDB_HTTP === undefined
  const isPostgresManaged = config.DATABASE_URL === undefined
  const file = join(directory.path, 'disk-samples')
  const closing = new AbortController()
  const { signal } = closing
  let samples = readSamples(file, nowMs())
  let last: DiskSample | undefined

  async function measure(): Promise<void> {
    const [journal, points] = [await bytesIn(directory.journal, signal), await bytesIn(directory.pointsJournal, signal)]
    const questdb = isQuestdbManaged ? await bytesIn(directory.questdb, signal) : 0
    const postgres = isPostgresManaged ? await bytesIn(directory.postgres, signal) : 0
    last = { atMs: nowMs(), journal: journal + points, questdb, postgres }
    samples = addSample(samples, last)
    writeSamples(file, samples)
  }

  /** A restart does not measure more often, but the first values are needed at once. */
  async function run(first: Promise<void>): Promise<void> {
    await first
    while (!signal.aborted) {
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
      if (!signal.aborted) await tryMeasure()
    }
  }

  async function tryMeasure(): Promise<void> {
    try {
      await measure()
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'cannot measure the use of the disk')
    }
  }

  const measured = tryMeasure()
  const running = run(measured)
  return {
    measured,
    async read() {
      const disk = await readDisk(directory.path)
      return {
        ...disk,
        journalBytes: last?.journal,
        questdbBytes: isQuestdbManaged ? last?.questdb : undefined,
        postgresBytes: isPostgresManaged ? last?.postgres : undefined,
        ...forecast(samples, disk.freeBytes, daysUntilExpiry(retention.state(), nowMs())),
      }
    },
    async close() {
      closing.abort()
      await running
    },
  }
}

/** Days until the oldest readings expire; undefined if they do already, or never will. */
function daysUntilExpiry({ days, oldestDayMs }: RetentionState, nowMs: number): number | undefined {
  if (days === undefined || oldestDayMs === undefined) return undefined
  const left = (oldestDayMs - horizonMs(nowMs, days)) / dayMs
  return left > 0 ? left : undefined
}

const blockBytes = 512

/** Reads sizes one after the other, to leave the disk to others. Removed files do not count. */
async function bytesIn(folder: string, signal: AbortSignal): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(noEntries)) {
    signal.throwIfAborted()
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await bytesIn(path, signal)
    else bytes += await lstat(path).then(({ blocks }) => blocks * blockBytes, isGone)
  }
  return bytes
}

function noEntries(error: unknown): Dirent[] {
  isGone(error)
  return []
}

function isGone(error: unknown): number {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  return 0
}
