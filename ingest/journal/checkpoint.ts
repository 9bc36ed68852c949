/** The forwarder's progress, in a small file beside the journal. An old checkpoint only means that more is sent again. */

import { bug } from '../../store/limits/bug.ts'
import type { Disk } from './disk.ts'
import { listSegments } from './segments.ts'

const name = 'checkpoint'

export function writeCheckpoint(disk: Disk, position: number): void {
  // A reader ignores an invalid position, and everything in the journal is sent again.
  if (!(Number.isSafeInteger(position) && position >= 0)) throw bug(`the checkpoint is to be ${position}`)
  disk.replace(name, Buffer.from(String(position)))
}

/** Position where the forwarder stopped, or the oldest segment if unknown. */
export function readCheckpoint(disk: Disk, end: number): number {
  const oldest = listSegments(disk)[0] ?? end
  const position = checkpointOf(disk)
  return position >= oldest && position <= end ? position : oldest
}

/** The position in the file, or 0 without one. */
export function checkpointOf(disk: Disk): number {
  try {
    const file = disk.open(name, false)
    const bytes = new Uint8Array(20)
    const count = file.read(bytes, 0)
    file.close()
    const text = Buffer.from(bytes.subarray(0, count)).toString()
    return /^\d+$/.test(text) ? Number(text) : 0
  } catch {
    return 0
  }
}
