/**
 * Faults of the journal's disk: the process kills itself at a named point, syncs are slow, or what was not synced is lost
 * with the process.
 */

import type { Disk, DiskFile } from '../../../ingest/journal/disk.ts'
import { faults, pass } from './fail-point.ts'
import type { FailPoint } from './settings.ts'

export function withDiskFaults(disk: Disk): Disk {
  return {
    ...disk,
    open(name, create) {
      const file = disk.open(name, create)
      if (create && name.endsWith('.journal')) pass('segment-roll')
      return fileWithFaults(faults.FAULT_LOSE_UNSYNCED === '1' ? forgetful(file) : file)
    },
    replace(name, bytes) {
      const point = replacePoints[name]
      if (point !== undefined) {
        // As far as a kill between the writing of the new file and its renaming gets.
        const file = disk.open(`${name}.new`, true)
        file.write(bytes, 0)
        file.close()
        pass(point)
      }
      disk.replace(name, bytes)
      if (name === 'erased') pass('tombstone-sync')
    },
    remove(name) {
      disk.remove(name)
      if (name.endsWith('.journal')) pass('segment-delete')
    },
    syncDirectory() {
      pass('directory-sync')
      disk.syncDirectory()
    },
  }
}

const replacePoints: Record<string, FailPoint> = { checkpoint: 'checkpoint-rename', erased: 'tombstone-rename' }

function fileWithFaults(file: DiskFile): DiskFile {
  const { FAULT_SYNC_MS: syncDelayMs } = faults
  let syncs = 0
  // Zeros are only room that is made for groups.
  let isGroup = false
  return {
    ...file,
    write(bytes, position) {
      file.write(bytes, position)
      isGroup = bytes[0] !== 0
      if (isGroup) pass('after-append')
    },
    sync() {
      if (syncDelayMs !== undefined) {
        const { min, max } = syncDelayMs
        sleepMs(min + (max - min) * ((syncs++ % 7) / 6))
      }
      file.sync()
      if (isGroup) pass('after-sync')
      isGroup = false
    },
  }
}

/** Holds the writes back until they are synced. The journal's writer, which is all that has this, never reads. */
function forgetful(file: DiskFile): DiskFile {
  let held: { bytes: Uint8Array; position: number }[] = []
  const writeHeld = () => {
    for (const { bytes, position } of held) file.write(bytes, position)
    held = []
  }
  return {
    ...file,
    write: (bytes, position) => void held.push({ bytes: bytes.slice(), position }),
    sync() {
      writeHeld()
      file.sync()
    },
    truncate(length) {
      writeHeld()
      file.truncate(length)
    },
    close() {
      writeHeld()
      file.close()
    },
  }
}

function sleepMs(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
