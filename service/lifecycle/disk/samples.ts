/** Keeps the hourly disk use of two weeks in a small file of the data directory. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

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
