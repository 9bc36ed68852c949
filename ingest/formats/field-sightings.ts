/**
 * Which fields without a column the rows of a chunk have, by the device that each row names: what main is asked about before
 * the rows are read with its answer.
 */

import { isColumnField } from '../field-names.ts'
import type { OtherFields } from './row-kind.ts'

/** Plain data, so that it can be handed to another thread. */
export interface FieldSightings {
  /** By the index of its name: 1 for a device that has a row which passed its check. */
  isTaken: Uint8Array<ArrayBuffer>
  /** Distinct names of fields, also of those without a value. */
  fields: string[]
  /** Index of the name of a device and of the field, one behind the other: of rows that passed their check. */
  taken: Uint32Array<ArrayBuffer>
  /** The same of rows that did not, and of fields that count only where a device lists its metrics. */
  refused: Uint32Array<ArrayBuffer>
}

/** No metric is called by a longer name. */
const nameLengthMax = 64
/** But for the last row, which is taken whole. */
export interface SightingLimits {
  /** Pairs of a device and a field. */
  pairsMax: number
  /** Distinct names. */
  fieldsMax: number
}

/** PostgreSQL makes so many series in one transaction. */
const chunkLimits: SightingLimits = { pairsMax: 5_000, fieldsMax: 5_000 }
/** More than there are fields, of which a line of 64 KiB has 13,000. */
const fieldFactor = 2 ** 16

export class SightingsReader {
  readonly #limits: SightingLimits
  readonly #fields = new Map<string, number>()
  readonly #isTaken: boolean[] = []
  readonly #taken = new Set<number>()
  readonly #refused = new Set<number>()

  constructor(limits = chunkLimits) {
    this.#limits = limits
  }

  isFull(): boolean {
    const { pairsMax, fieldsMax } = this.#limits
    return this.#taken.size + this.#refused.size >= pairsMax || this.#fields.size >= fieldsMax
  }

  /** `device` is the index of its name. */
  add(device: number, others: OtherFields | undefined): void {
    this.#isTaken[device] = true
    if (others !== undefined) this.#addAll(device, others, false)
  }

  addRefused(device: number, others: OtherFields | undefined): void {
    this.#isTaken[device] ??= false
    if (others !== undefined) this.#addAll(device, others, true)
  }

  /** A field that may be a value. */
  addField(device: number, name: string, isRefused: boolean): void {
    if (name.length > nameLengthMax) return
    const pairs = isRefused ? this.#refused : this.#taken
    pairs.add(device * fieldFactor + this.#indexOf(name))
  }

  result(): FieldSightings {
    return {
      isTaken: Uint8Array.from(this.#isTaken, isTaken => (isTaken ? 1 : 0)),
      fields: [...this.#fields.keys()],
      taken: unpacked(this.#taken),
      refused: unpacked(this.#refused),
    }
  }

  #addAll(device: number, { sighted, ifListed, fields }: OtherFields, isRefused: boolean): void {
    for (const name of sighted) this.addField(device, name, isRefused)
    for (const name of ifListed) this.addField(device, name, true)
    // Of a device that lists a metric, a null for it is not the same as nothing.
    for (const name in fields) if (name.length <= nameLengthMax && !isColumnField(name)) this.#indexOf(name)
  }

  #indexOf(name: string): number {
    const known = this.#fields.get(name)
    if (known !== undefined) return known
    const index = this.#fields.size
    this.#fields.set(name, index)
    return index
  }
}

/** To hand them over, or to free their memory. */
export function arraysOfSightings({ isTaken, taken, refused }: FieldSightings) {
  return [isTaken, taken, refused]
}

function unpacked(pairs: ReadonlySet<number>): Uint32Array<ArrayBuffer> {
  const numbers = new Uint32Array(2 * pairs.size)
  let at = 0
  for (const pair of pairs) {
    numbers[at++] = Math.floor(pair / fieldFactor)
    numbers[at++] = pair % fieldFactor
  }
  return numbers
}
