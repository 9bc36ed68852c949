/**
 * Saves the assigned stamps in a small file beside the journal. It is written when another class of stamps takes over, so it has
 * the highest stamp of each class except the current one. That class's last stamp is in the newest group of the journal. A reader
 * never sees a reading before its stamp, or a later one, is on disk in one of the two.
 */

import { z } from 'zod'
import type { Log } from '../../store/log.ts'
import type { Disk } from './disk.ts'
import { type ClassStamper, createStamper, type StampState, stampModulus } from './stamp.ts'
import { clockStepUs } from './wall-clock.ts'

const name = 'stamps'
const bytesMax = 1024

const StampFile = z.object({
  version: z.literal(1),
  residue: z
    .int()
    .min(1)
    .max(stampModulus - 1),
  highestUs: z.array(z.number().min(0)).length(stampModulus),
})

export interface OpenStamperOptions {
  disk: Disk
  /** The last stamp in the journal; 0 without one. */
  lastStampUs: number
  nowUs: () => number
  log: Log
}

export function openStamper({ disk, lastStampUs, nowUs, log }: OpenStamperOptions): ClassStamper {
  const state = readStamps(disk, lastStampUs)
  const aheadUs = Math.max(...state.highestUs) - nowUs()
  if (aheadUs > clockStepUs) {
    log.warn(
      { seconds: Math.round(aheadUs / 1_000_000) },
      'newest stamp is ahead of the clock: the clock is or was wrong',
    )
  }
  return createStamper({
    nowUs,
    state,
    save: changed => writeStamps(disk, changed, log),
    onExhausted: us => log.error({ seconds: Math.round(us / 1_000_000) }, exhausted),
  })
}

const exhausted = 'clock set back too often; timestamps stay ahead of it until it catches up'

/** A journal without the file is from an older version, whose stamps may be of any class. */
export function readStamps(disk: Disk, lastStampUs: number): StampState {
  const stored = readFile(disk)
  if (stored === undefined) return { residue: undefined, highestUs: Array<number>(stampModulus).fill(lastStampUs) }
  const highestUs = stored.highestUs.map((us, residue) =>
    lastStampUs % stampModulus === residue ? Math.max(us, lastStampUs) : us,
  )
  return { residue: stored.residue, highestUs }
}

function readFile(disk: Disk): z.infer<typeof StampFile> | undefined {
  if (!disk.list().includes(name)) return undefined
  const file = disk.open(name, false)
  try {
    const bytes = new Uint8Array(bytesMax)
    const text = Buffer.from(bytes.subarray(0, file.read(bytes, 0))).toString()
    return StampFile.safeParse(parseJson(text)).data
  } finally {
    file.close()
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function writeStamps(disk: Disk, state: StampState, log: Log): boolean {
  try {
    disk.replace(name, Buffer.from(JSON.stringify({ version: 1, ...state })))
    disk.syncDirectory()
    return true
  } catch (error) {
    log.warn({ err: error }, 'cannot follow the clock step while the journal is not writable')
    return false
  }
}
