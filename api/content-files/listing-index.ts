/**
 * The published files in the order of the listing, as columns of numbers: which files a filter lets through, how many,
 * and which of them stand at an offset. What the listing says of a file is not here, that is read by id.
 */

import { LRUCache } from 'lru-cache'
import { type FileColumns, FileSelection } from './file-selection.ts'
import type { Codes, Filters } from './filters.ts'
import { foldCase } from './fold-case.ts'

/** Files in the order of the listing. */
export interface Files extends FileColumns {
  ids: Float64Array
}

export interface Runs {
  ids: Float64Array
  resourceIds: Float64Array
  /** Places in the lists of codes. */
  units: Int32Array
  platforms: Int32Array
}

export interface FeatureSet {
  id: number
  /** Sorted by code point. */
  names: readonly string[]
}

/** Something that has a code, as the filter form lists it. */
export interface Coded {
  code: string
  name: string
}

export interface IndexParts {
  /** Of the data that all of this was read from, in one snapshot. */
  version: string
  files: Files
  runs: Runs
  sets: readonly FeatureSet[]
  units: readonly Coded[]
  platforms: readonly Coded[]
}

/** What is asked of one file. */
export interface FileFacts {
  runId: number
  setId: number
  moduleId: string | null
}

/** Files of the listing, in its order. */
export class Matches {
  readonly #ids: Float64Array
  /** Of those that match, among the ids; all of them without it. */
  readonly #places: Int32Array | undefined

  constructor(ids: Float64Array, places: Int32Array | undefined) {
    this.#ids = ids
    this.#places = places
  }

  get count(): number {
    return this.#places?.length ?? this.#ids.length
  }

  /** What is held on behalf of these matches alone. */
  get bytes(): number {
    return (this.#places ?? this.#ids).byteLength
  }

  idsAt(offset: number, limit: number): number[] {
    if (this.#places === undefined) return [...this.#ids.subarray(offset, offset + limit)]
    return Array.from(this.#places.subarray(offset, offset + limit), place => this.#ids[place] ?? 0)
  }
}

const matchesBytesMax = 32 * 1024 * 1024

export class ListingIndex {
  readonly version: string
  readonly codes: Codes
  readonly units: readonly Coded[]
  readonly platforms: readonly Coded[]
  readonly #parts: IndexParts
  readonly #runPlaces: ReadonlyMap<number, number>
  readonly #setPlaces: ReadonlyMap<number, number>
  readonly #all: Matches
  readonly #selection: FileSelection
  /** What a filter lets through, by the filter. */
  readonly #matches = new LRUCache<string, Matches>({
    maxSize: matchesBytesMax,
    sizeCalculation: (matches, key) => matches.bytes + 2 * key.length + 200,
  })

  constructor(parts: IndexParts) {
    this.version = parts.version
    this.units = parts.units
    this.platforms = parts.platforms
    this.codes = { units: codesOf(parts.units), platforms: codesOf(parts.platforms) }
    this.#parts = parts
    this.#all = new Matches(parts.files.ids, undefined)
    this.#selection = new FileSelection(parts.files, parts.runs.ids.length)
    this.#runPlaces = placesOf(parts.runs.ids)
    this.#setPlaces = placesOf(parts.sets.map(set => set.id))
  }

  get size(): number {
    return this.#parts.files.ids.length
  }

  runPlace(runId: number): number | undefined {
    return this.#runPlaces.get(runId)
  }

  setPlace(setId: number): number | undefined {
    return this.#setPlaces.get(setId)
  }

  featureTypesOf(setId: number): readonly string[] {
    return this.#parts.sets[this.#setPlaces.get(setId) ?? -1]?.names ?? []
  }

  /** All that the filters let through, in order. `filesOf` reads the files that have one of the module ids. */
  async match(filters: Filters, filesOf: (moduleIds: readonly string[]) => Promise<Files>): Promise<Matches> {
    if (isEmpty(filters)) return this.#all
    const key = JSON.stringify(filters)
    const known = this.#matches.get(key)
    if (known !== undefined) return known
    const runMask = this.#runMask(filters)
    const setMask = this.#setMask(filters)
    const { moduleIds } = filters
    const matches =
      moduleIds === undefined
        ? new Matches(this.#parts.files.ids, this.#selection.select(runMask, setMask))
        : new Matches(pick(await filesOf(moduleIds), runMask, setMask), undefined)
    this.#matches.set(key, matches)
    return matches
  }

  /** The same question for one file, whether it is in the index or not. */
  lets(filters: Filters, { runId, setId, moduleId }: FileFacts): boolean {
    if (isEmpty(filters)) return true
    const run = this.#runPlaces.get(runId) ?? -1
    const set = this.#setPlaces.get(setId) ?? -1
    const isModule = filters.moduleIds?.includes(foldCase(moduleId ?? '')) ?? true
    return isModule && this.#runMask(filters)[run] === 1 && this.#setMask(filters)[set] === 1
  }

  /** 1 for each run whose files are let through. */
  #runMask({ runIds, resourceIds, units, platforms }: Filters): Uint8Array {
    const { runs } = this.#parts
    const mask = new Uint8Array(runs.ids.length).fill(1)
    keepAmong(mask, runs.ids, runIds)
    keepAmong(mask, runs.resourceIds, resourceIds)
    keepAmong(mask, runs.units, placesOfCodes(this.units, units))
    keepAmong(mask, runs.platforms, placesOfCodes(this.platforms, platforms))
    return mask
  }

  #setMask({ featureTypes }: Filters): Uint8Array {
    const { sets } = this.#parts
    if (featureTypes === undefined) return new Uint8Array(sets.length).fill(1)
    const wanted = new Set(featureTypes)
    return Uint8Array.from(sets, ({ names }) => (names.some(name => wanted.has(foldCase(name))) ? 1 : 0))
  }
}

function codesOf(coded: readonly Coded[]): ReadonlySet<string> {
  return new Set(coded.map(({ code }) => code))
}

function placesOf(ids: Iterable<number>): Map<number, number> {
  const places = new Map<number, number>()
  for (const id of ids) places.set(id, places.size)
  return places
}

function placesOfCodes(coded: readonly Coded[], codes: readonly string[] | undefined): number[] | undefined {
  return codes?.map(code => coded.findIndex(one => one.code === code))
}

function keepAmong(mask: Uint8Array, column: ArrayLike<number>, values: readonly number[] | undefined): void {
  if (values === undefined) return
  const wanted = new Set(values)
  for (let i = 0; i < mask.length; i++) {
    if (!wanted.has(column[i] ?? -1)) mask[i] = 0
  }
}

/** For files that are not all of the listing; one may be newer than the index and have a run that it does not know. */
function pick({ ids, runs, sets }: Files, runMask: Uint8Array, setMask: Uint8Array): Float64Array {
  return ids.filter((_, i) => runMask[runs[i] ?? -1] === 1 && setMask[sets[i] ?? -1] === 1)
}

function isEmpty(filters: Filters): boolean {
  return Object.values(filters).every(wanted => wanted === undefined)
}
