/** A real directory whose operations fail on request. The disk is the only replaced part of the journal. */

import { type Disk, openDisk } from '../../ingest/journal/disk.ts'

export interface Faults {
  /** Called before the operation. Throws to make it fail. */
  before: (operation: 'write' | 'sync' | 'truncate' | 'open', name: string) => void
  freeBytes: number
}

export function openFaultyDisk(directory: string): { disk: Disk; faults: Faults } {
  const disk = openDisk(directory)
  const faults: Faults = { before: () => undefined, freeBytes: Number.MAX_SAFE_INTEGER }
  return {
    faults,
    disk: {
      ...disk,
      freeBytes: () => faults.freeBytes,
      open(name, create) {
        faults.before('open', name)
        const file = disk.open(name, create)
        return {
          ...file,
          write(bytes, position) {
            faults.before('write', name)
            file.write(bytes, position)
          },
          sync() {
            faults.before('sync', name)
            file.sync()
          },
          truncate(length) {
            faults.before('truncate', name)
            file.truncate(length)
          },
        }
      },
    },
  }
}
