/** A file of the simulated disk: what programs see, what is on the platter, and the writes that are on their way. */

import type { Random } from './seeded-random.ts'

/** Disks write this much at once or not at all. */
const sectorBytes = 512

type Change = { position: number; bytes: Uint8Array } | { truncateTo: number }

export class Content {
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

  /** A file that grows is filled with zeros. */
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

export class SimulatedFile {
  readonly #seen: Content
  readonly #platter: Content
  #pending: Change[] = []
  /** How many of its syncs have failed. */
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
   * As Linux does it: some of the changes are on the platter, all count as written from now on, and the next sync will
   * succeed without them. Readers still see them.
   */
  failSync(random: Random): void {
    this.#settle(random)
    this.syncFailures++
  }

  /** The file as a power cut leaves it. */
  crash(random: Random): SimulatedFile {
    const copy = new SimulatedFile(new Content(this.#platter))
    copy.#pending = this.#pending
    copy.#settle(random)
    return new SimulatedFile(copy.#platter)
  }

  /** Some of the changes reach the platter, sector by sector, the others never. */
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
    // The length of the file is written apart from its sectors: one may be there without the other.
    if (end > this.#platter.length && random.chance(share)) this.#platter.resize(end)
    for (let from = position; from < end; ) {
      const to = Math.min(end, from - (from % sectorBytes) + sectorBytes, this.#platter.length)
      if (to <= from) return
      if (random.chance(share)) this.#platter.write(from, bytes.subarray(from - position, to - position))
      from = to
    }
  }
}
