/** Faults of the journal's disk: a SIGKILL at a named point, or the loss of unsynced data with the process. */

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
        // A kill between write and rename leaves this file.
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
  // Zeros are preallocated space for groups.
  let isGroup = false
  return {
    ...file,
    write(bytes, position) {
      file.write(bytes, position)
      isGroup = bytes[0] !== 0
      if (isGroup) pass('after-append')
    },
    sync() {
      file.sync()
      if (isGroup) pass('after-sync')
      isGroup = false
    },
  }
}

/** Buffers writes until they are synced. Only the journal's writer uses this file, and it never reads. */
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
