/**
 * Resolves the names of a chunk or body on the main thread, by their known numbers or else by their texts, and the
 * fields that their devices have sent.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CustomField } from '../custom-fields.ts'
import type { Unresolved } from '../formats/encode.ts'
import type { FieldSightings, PackedFields } from '../formats/field-sightings.ts'
import type { Series } from '../formats/row-kind.ts'
import type { PackedNames } from './packed-names.ts'

/** Rejects show the name. */
type KnownDevice = (Series | Unresolved) & { readonly name: string }

/**
 * The device of this number, or why its rows are rejected. Undefined where it has changed since this sequence number, so that the
 * name may belong to another device. Throws `NamesUnavailable` when the registry is unavailable.
 */
export type FindKnown = (number: number, authSeq: number) => KnownDevice | undefined

type Found = KnownDevice | Series | Unresolved

const namesPerTurn = 2000

interface FoundNames {
  /** The index is the name's. Names passed as texts have no entry. */
  found: (Found | undefined)[]
  /** Indexes of names of devices that have changed. */
  changed: number[]
}

/** Slices let the main thread do other work in between. */
export async function findKnown({ count, known }: PackedNames, find: FindKnown | undefined): Promise<FoundNames> {
  const found: (Found | undefined)[] = Array(count).fill(undefined)
  const changed: number[] = []
  if (known === undefined || find === undefined) return { found, changed }
  const { numbers, authSeqs } = known
  for (let index = 0; index < count; index++) {
    const number = numbers[index] as number
    if (number === 0) continue
    const device = find(number, authSeqs[index] as number)
    found[index] = device
    if (device === undefined) changed.push(index)
    if ((index + 1) % namesPerTurn === 0) await nextTurn()
  }
  return { found, changed }
}

/** A field that a device has sent. */
export interface SentField {
  /** The resolved device. */
  readonly device: Series
  readonly field: string
}

export interface FieldResolver {
  /** Finds devices of these names in memory and creates none. */
  find(names: readonly string[]): (Series | Unresolved)[]
  /** Resolves each field: undefined if it is not stored. Rejects when the registry is unavailable. */
  resolve(sent: readonly SentField[]): Promise<(CustomField | undefined)[]>
  /** The metric of each field. */
  metricsOf(fields: readonly string[]): Promise<(string | undefined)[]>
}

type Devices = readonly (Series | Unresolved)[]

/** Undefined where the rows need not be read again. `devices` are by the index of their names. */
export async function resolveFields(
  devices: Devices,
  sightings: FieldSightings,
  resolver: Omit<FieldResolver, 'find'> | undefined,
): Promise<PackedFields | undefined> {
  const lists = listsOf(devices)
  if (lists.size === 0 && sightings.taken.length === 0) return undefined
  const pairs = storablePairs(devices, sightings, lists)
  const sent = pairs.map(({ name, field }): SentField => {
    return { device: devices[name] as Series, field: sightings.fields[field] as string }
  })
  const found = (await resolver?.resolve(sent)) ?? []
  return {
    isDevice: Uint8Array.from(devices, device => ('number' in device ? 1 : 0)),
    lists,
    names: sightings.fields,
    metrics: lists.size === 0 ? [] : ((await resolver?.metricsOf(sightings.fields)) ?? []),
    ...packed(pairs, found),
  }
}

/** Packs the stored pairs. */
function packed(
  pairs: readonly Pair[],
  found: readonly (CustomField | undefined)[],
): Pick<PackedFields, 'pairs' | 'series' | 'min' | 'max'> {
  const count = found.reduce((sum, field) => (field === undefined ? sum : sum + 1), 0)
  const fields = {
    pairs: new Uint32Array(2 * count),
    series: new Uint32Array(count),
    min: new Float64Array(count),
    max: new Float64Array(count),
  }
  let at = 0
  for (const [index, as] of found.entries()) {
    if (as === undefined) continue
    const { name, field } = pairs[index] as Pair
    fields.pairs[2 * at] = name
    fields.pairs[2 * at + 1] = field
    fields.series[at] = as.series
    fields.min[at] = as.min
    fields.max[at++] = as.max
  }
  return fields
}

function listsOf(devices: Devices): Map<number, readonly string[]> {
  const lists = new Map<number, readonly string[]>()
  for (let index = 0; index < devices.length; index++) {
    const device = devices[index] as Series | Unresolved
    if ('number' in device && device.metrics != null) lists.set(index, device.metrics)
  }
  return lists
}

interface Pair {
  name: number
  field: number
}

/** Rejected rows count only for devices that list their metrics: other rejected rows must not create metrics. */
function storablePairs(
  devices: Devices,
  { taken, refused }: FieldSightings,
  lists: ReadonlyMap<number, readonly string[]>,
): Pair[] {
  const pairs: Pair[] = []
  const addAll = (numbers: Uint32Array, isStorable: (name: number) => boolean) => {
    for (let at = 0; at < numbers.length; at += 2) {
      const name = numbers[at] as number
      if (isStorable(name)) pairs.push({ name, field: numbers[at + 1] as number })
    }
  }
  addAll(taken, name => 'number' in (devices[name] as Series | Unresolved))
  addAll(refused, name => lists.has(name))
  return pairs
}
