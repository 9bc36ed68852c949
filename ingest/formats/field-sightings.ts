/**
 * Fields without a column in the rows of a chunk, by device name. The main thread resolves them before the rows are
 * read with its answer.
 */

import type { CustomField } from '../custom-fields.ts'
import { isColumnField } from '../field-names.ts'
import type { ReadingDevice } from '../whole-reading.ts'
import type { OtherFields } from './row-kind.ts'

/** Plain data, so that it can be posted to another thread. */
export interface FieldSightings {
  /** The index is the name's. A device with a valid row has 1. */
  isTaken: Uint8Array<ArrayBuffer>
  /** Distinct names of fields, including fields without a value. */
  fields: string[]
  /** Pairs of the indexes of a device name and of a field, from valid rows. */
  taken: Uint32Array<ArrayBuffer>
  /** The same pairs from rejected rows, and from fields that count only where a device lists its metrics. */
  refused: Uint32Array<ArrayBuffer>
}

/** A longer name cannot match a metric. */
const nameLengthMax = 64
/** The last row may exceed the limits, since it is taken completely. */
export interface SightingLimits {
  /** Pairs of a device and a field. */
  pairsMax: number
  /** Distinct names. */
  fieldsMax: number
}

/** PostgreSQL creates this many series in one transaction. */
const chunkLimits: SightingLimits = { pairsMax: 5_000, fieldsMax: 5_000 }
/** Greater than the number of fields: a line of 64 KiB has 13,000. */
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

  /** Adds a field that may be a value. */
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
    // For a device that lists a metric, a null differs from a missing field.
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

/** Returns the arrays for transferring them, or freeing their memory. */
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

/** Plain data, so that it can be posted to another thread. */
export interface PackedFields {
  /** The index is the device name's. A device whose readings are rejected has 0. */
  isDevice: Uint8Array<ArrayBuffer>
  /** Lists of metrics by the index of the device's name, where devices have one. */
  lists: ReadonlyMap<number, readonly string[]>
  /** Distinct names of fields. */
  names: readonly string[]
  /** Each field name has a metric. */
  metrics: readonly (string | undefined)[]
  /** Pairs of the indexes of the device's name and of the field, for stored fields. */
  pairs: Uint32Array<ArrayBuffer>
  /** Series of each pair. */
  series: Uint32Array<ArrayBuffer>
  min: Float64Array<ArrayBuffer>
  max: Float64Array<ArrayBuffer>
}

interface ResolvedFields {
  /** The device of the name with this index. */
  deviceOf(name: number): ReadingDevice
}

export function createResolvedFields(packed: PackedFields): ResolvedFields {
  const metricOf = new Map(packed.names.map((name, index) => [name, packed.metrics[index]]))
  const fieldsOf = fieldsByDevice(packed)
  const devices: ReadingDevice[] = []
  return {
    deviceOf(name) {
      devices[name] ??= {
        metrics: packed.lists.get(name) ?? null,
        fieldOf: packed.isDevice[name] === 1 ? field => fieldsOf.get(name)?.get(field) : () => anyField,
        nameOf: field => metricOf.get(field),
      }
      return devices[name]
    },
  }
}

/** Rows without a device are rejected for that reason, not for their content. */
const anyField: CustomField = { series: 0, min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY }

function fieldsByDevice({ names, pairs, series, min, max }: PackedFields): Map<number, Map<string, CustomField>> {
  const fields = new Map<number, Map<string, CustomField>>()
  for (let at = 0; at < series.length; at++) {
    const device = pairs[2 * at] as number
    const name = names[pairs[2 * at + 1] as number] as string
    const field = { series: series[at] as number, min: min[at] as number, max: max[at] as number }
    const known = fields.get(device)
    if (known === undefined) fields.set(device, new Map([[name, field]]))
    else known.set(name, field)
  }
  return fields
}
