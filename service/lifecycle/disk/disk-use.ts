/** Measures each hour the disk use of the journals and the managed databases, and forecasts when the disk will be full. */

import { type Dirent, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { DataDirectory } from '../../../store/data-directory.ts'
import type { Log } from '../../../store/log.ts'
import type { Config } from '../../settings/config.ts'
import { dayMs, horizonMs } from '../retention/horizon.ts'
import type { Retention } from '../retention/retention.ts'
import type { RetentionState } from '../retention/retention-nodes.ts'
import { readDisk } from './disk-space.ts'

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

interface DiskUseOptions {
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

/** Bytes on the disk of the data directory; 0 for an external database. */
export interface DiskSample {
  atMs: number
  journal: number
  questdb: number
  postgres: number
}

/** Two weeks of hours. */
export const samplesMax = 336
const fileBytesMax = 64 * 1024

const count = z.number().min(0)
const File = z.array(z.tuple([count, count, count, count])).max(samplesMax)

/** Empty for a missing or damaged file: then the growth is unknown for some days. */
export function readSamples(file: string, nowMs: number): DiskSample[] {
  try {
    const bytes = readFileSync(file)
    if (bytes.length > fileBytesMax) return []
    const rows = File.parse(JSON.parse(bytes.toString()))
    const samples = rows.map(([atMs, journal, questdb, postgres]) => ({ atMs, journal, questdb, postgres }))
    // The clock was ahead.
    return samples.filter(({ atMs }) => atMs <= nowMs)
  } catch {
    return []
  }
}

export function writeSamples(file: string, samples: readonly DiskSample[]): void {
  const rows = samples.map(({ atMs, journal, questdb, postgres }) => [atMs, journal, questdb, postgres])
  writeFileSync(`${file}.new`, JSON.stringify(rows), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** Appends a sample. Drops the oldest ones, and samples of a clock that was ahead. */
export function addSample(samples: readonly DiskSample[], sample: DiskSample): DiskSample[] {
  return [...samples.filter(({ atMs }) => atMs < sample.atMs), sample].slice(-samplesMax)
}

interface Forecast {
  /** Undefined with too few days. */
  growthBytesPerDay: number | undefined
  /** Undefined if unknown, or without growth. */
  daysUntilFull: number | undefined
}

/** A single day decides if there are fewer. */
const daysMin = 4

/**
 * Forecasts from the use on previous days. The growth is the Theil–Sen slope, the median of the slopes of all pairs of days, which
 * single days of a backlog or an erasure do not change. From `daysUntilExpiry` on, expiry offsets the growth, so a disk that lasts until then does not get full. Undefined if
 * readings never expire, or already do, which is part of the growth.
 */
export function forecast(
  samples: readonly DiskSample[],
  freeBytes: number,
  daysUntilExpiry = Number.POSITIVE_INFINITY,
): Forecast {
  const days = dailyMedians(samples)
  if (days.length < daysMin) return { growthBytesPerDay: undefined, daysUntilFull: undefined }
  const slopes = days.flatMap((later, at) => {
    return days.slice(0, at).map(earlier => (later.bytes - earlier.bytes) / (later.day - earlier.day))
  })
  const growthBytesPerDay = median(slopes)
  const daysUntilFull = growthBytesPerDay > 0 ? freeBytes / growthBytesPerDay : undefined
  const lasts = daysUntilFull === undefined || daysUntilFull >= daysUntilExpiry
  return { growthBytesPerDay, daysUntilFull: lasts ? undefined : daysUntilFull }
}

/** Sums of all parts by day in UTC. */
function dailyMedians(samples: readonly DiskSample[]): { day: number; bytes: number }[] {
  const byDay = Map.groupBy(samples, ({ atMs }) => Math.floor(atMs / dayMs))
  return [...byDay].map(([day, ofDay]) => {
    return { day, bytes: median(ofDay.map(({ journal, questdb, postgres }) => journal + questdb + postgres)) }
  })
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
}
