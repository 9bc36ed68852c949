/**
 * A disk in memory that knows what was synced. After a power cut what was synced is there, and of everything else some
 * part: sectors of writes, lengths of files, names that were given, changed or removed.
 */

import type { Disk, DiskFile } from '../../ingest/journal/disk.ts'
import type { Random } from './seeded-random.ts'
import { SimulatedFile } from './simulated-file.ts'
import { SimulatedNames } from './simulated-names.ts'

type DiskOperation = 'open' | 'write' | 'sync' | 'truncate' | 'rename' | 'remove' | 'syncDirectory'

interface Switches {
  /** The error with which this operation fails, if it does. */
  fault: (operation: DiskOperation, name: string) => Error | undefined
  free: number
  /** The machine or the process stops at this operation, counted from now: it and all after it fail. */
  stopsIn: number
  isStopped: boolean
  /** Syncs through the very descriptor on which one had failed before: their success means nothing. */
  resynced: number
}

export interface SimulatedDisk extends Disk {
  switches: Switches
  /** What the next process finds: everything after a kill; after a power cut what was synced and a part of the rest. */
  restart(random: Random, after: 'kill' | 'power cut'): SimulatedDisk
}

export function createSimulatedDisk(random: Random, names = new SimulatedNames()): SimulatedDisk {
  const switches: Switches = {
    fault: () => undefined,
    free: Number.MAX_SAFE_INTEGER,
    stopsIn: Number.POSITIVE_INFINITY,
    isStopped: false,
    resynced: 0,
  }

  /** Every operation that changes something passes here first. */
  function enter(operation: DiskOperation, name: string): void {
    if (switches.isStopped || switches.stopsIn-- <= 0) {
      switches.isStopped = true
      throw new Error('the machine is off')
    }
    const error = switches.fault(operation, name)
    if (error !== undefined) throw error
  }

  function open(name: string, create: boolean): DiskFile {
    enter('open', name)
    const existing = names.get(name)
    if (existing === undefined && !create) throw new Error(`ENOENT: there is no ${name}`)
    const file = existing ?? new SimulatedFile()
    if (existing === undefined) names.change({ name, file })
    return openFile(file, operation => enter(operation, name), random, switches)
  }

  return {
    switches,
    open,
    list: () => names.list(),
    replace(name, bytes) {
      const from = `${name}.new`
      const file = open(from, true)
      file.truncate(0)
      file.write(bytes, 0)
      file.sync()
      enter('rename', name)
      names.change({ name, file: names.get(from), from })
    },
    remove(name) {
      enter('remove', name)
      if (names.get(name) !== undefined) names.change({ name, file: undefined })
    },
    syncDirectory() {
      enter('syncDirectory', '')
      names.sync()
    },
    freeBytes: () => switches.free,
    restart(nextRandom, after) {
      switches.isStopped = true
      return createSimulatedDisk(nextRandom, after === 'kill' ? names : names.crash(nextRandom))
    },
  }
}

function openFile(
  file: SimulatedFile,
  enter: (operation: DiskOperation) => void,
  random: Random,
  switches: Switches,
): DiskFile {
  const failuresBefore = file.syncFailures
  return {
    write(bytes, position) {
      try {
        enter('write')
      } catch (error) {
        // A write that fails may have written the beginning.
        file.write(bytes.subarray(0, random.below(bytes.length + 1)), position)
        throw error
      }
      file.write(bytes, position)
    },
    read: (bytes, position) => file.read(bytes, position),
    sync() {
      if (file.syncFailures > failuresBefore) switches.resynced++
      try {
        enter('sync')
      } catch (error) {
        if (!switches.isStopped) file.failSync(random)
        throw error
      }
      file.sync()
    },
    truncate(length) {
      enter('truncate')
      file.truncate(length)
    },
    size: () => file.size,
    close: () => undefined,
  }
}
