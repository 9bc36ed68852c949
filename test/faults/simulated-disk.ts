/**
 * A disk in memory that tracks syncs. A power cut keeps synced data and a random part of the rest: sectors of writes, lengths of
 * files, added, changed or removed names.
 */

import type { Disk, DiskFile } from '../../ingest/journal/disk.ts'
import type { Random } from './seeded-random.ts'

type DiskOperation = 'open' | 'write' | 'sync' | 'truncate' | 'rename' | 'remove' | 'syncDirectory'

interface Switches {
  fault: (operation: DiskOperation, name: string) => Error | undefined
  free: number
  /** The machine or the process stops after this number of operations: all later ones fail. */
  stopsIn: number
  isStopped: boolean
  /** Syncs through a descriptor on which a sync failed before: their success has no meaning. */
  resynced: number
}

export interface SimulatedDisk extends Disk {
  switches: Switches
  /** The disk of the next process: everything after a kill, synced data and a part of the rest after a power cut. */
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

  /** Every modifying operation calls this first. */
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
        // A failed write may have written the beginning.
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

/** Disks write a sector atomically. */
const sectorBytes = 512

type Change = { position: number; bytes: Uint8Array } | { truncateTo: number }

class Content {
  #bytes: Uint8Array
  length: number

  constructor(from?: Content) {
    this.#bytes = from === undefined ? new Uint8Array(sectorBytes) : from.#bytes.slice()
    this.length = from?.length ?? 0
  }

  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }

  write(position: number, bytes: Uint8Array): void {
    const end = position + bytes.length
    if (end > this.length) this.resize(end)
    this.#bytes.set(bytes, position)
  }

  resize(length: number): void {
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.#bytes.length * 2))
      grown.set(this.view())
      this.#bytes = grown
    }
    if (length < this.length) this.#bytes.fill(0, length, this.length)
    this.length = length
  }
}

class SimulatedFile {
  readonly #seen: Content
  readonly #platter: Content
  #pending: Change[] = []
  syncFailures = 0

  constructor(platter?: Content) {
    this.#platter = platter ?? new Content()
    this.#seen = new Content(this.#platter)
  }

  get size(): number {
    return this.#seen.length
  }

  read(bytes: Uint8Array, position: number): number {
    const found = this.#seen.view().subarray(position, position + bytes.length)
    bytes.set(found)
    return found.length
  }

  write(bytes: Uint8Array, position: number): void {
    this.#seen.write(position, bytes)
    this.#pending.push({ position, bytes: new Uint8Array(bytes) })
  }

  truncate(length: number): void {
    this.#seen.resize(length)
    this.#pending.push({ truncateTo: length })
  }

  sync(): void {
    for (const change of this.#pending) {
      if ('truncateTo' in change) this.#platter.resize(change.truncateTo)
      else this.#platter.write(change.position, change.bytes)
    }
    this.#pending = []
  }

  /**
   * Emulates Linux: some changes reach the platter, all count as written, and the next sync succeeds without the others. Readers
   * still see them.
   */
  failSync(random: Random): void {
    this.#settle(random)
    this.syncFailures++
  }

  crash(random: Random): SimulatedFile {
    const copy = new SimulatedFile(new Content(this.#platter))
    copy.#pending = this.#pending
    copy.#settle(random)
    return new SimulatedFile(copy.#platter)
  }

  /** Some sectors reach the platter, the others never. */
  #settle(random: Random): void {
    const share = random.pick([0, 0.5, 0.9, 1])
    for (const change of this.#pending) {
      if ('truncateTo' in change) {
        if (random.chance(share)) this.#platter.resize(change.truncateTo)
      } else {
        this.#settleWrite(change.position, change.bytes, share, random)
      }
    }
    this.#pending = []
  }

  #settleWrite(position: number, bytes: Uint8Array, share: number, random: Random): void {
    const end = position + bytes.length
    // The length of a file is written separately from its sectors. One may survive without the other.
    if (end > this.#platter.length && random.chance(share)) this.#platter.resize(end)
    for (let from = position; from < end; ) {
      const to = Math.min(end, from - (from % sectorBytes) + sectorBytes, this.#platter.length)
      if (to <= from) return
      if (random.chance(share)) this.#platter.write(from, bytes.subarray(from - position, to - position))
      from = to
    }
  }
}

/** A name that was added, removed (no file), or renamed. */
interface NameChange {
  name: string
  file: SimulatedFile | undefined
  from?: string
}

class SimulatedNames {
  readonly #seen: Map<string, SimulatedFile>
  #durable: Map<string, SimulatedFile>
  #pending: NameChange[] = []

  constructor(durable = new Map<string, SimulatedFile>()) {
    this.#durable = durable
    this.#seen = new Map(durable)
  }

  list(): string[] {
    return [...this.#seen.keys()]
  }

  get(name: string): SimulatedFile | undefined {
    return this.#seen.get(name)
  }

  change(change: NameChange): void {
    apply(this.#seen, change)
    this.#pending.push(change)
  }

  sync(): void {
    this.#durable = new Map(this.#seen)
    this.#pending = []
  }

  /** Any combination of the changes survives, each file with the content of its last sync. */
  crash(random: Random): SimulatedNames {
    const share = random.pick([0, 0.5, 1])
    const names = new Map(this.#durable)
    for (const change of this.#pending) if (random.chance(share)) apply(names, change)
    return new SimulatedNames(new Map([...names].map(([name, file]) => [name, file.crash(random)])))
  }
}

function apply(names: Map<string, SimulatedFile>, { name, file, from }: NameChange): void {
  if (from !== undefined) names.delete(from)
  if (file === undefined) names.delete(name)
  else names.set(name, file)
}
