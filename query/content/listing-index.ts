/**
 * The published files in the order of the listing, as columns of numbers. It finds the number of files that match a
 * filter, and those at an offset. The listing's fields are read by id elsewhere. Answers are not cached: each takes at
 * most 2 ms with half a million files, and mostly a tenth of that.
 */

import { classify, type FileClasses, type FileColumns, FileSelection, type RunColumns } from './file-classes.ts'
import { type Codes, type Filters, foldCase } from './filters.ts'

/** Files in the order of the listing. */
export interface Files extends FileColumns {
  ids: Float64Array
}

/** Units and platforms are indexes into the lists of codes. */
export interface Runs extends RunColumns {
  ids: Float64Array
  resourceIds: Float64Array
}

export interface FeatureSet {
  id: number
  /** Sorted by code point. */
  names: readonly string[]
}

/** An entry with a code, as the filter form lists it. */
export interface Coded {
  code: string
  name: string
}

/** Positions of runs and feature sets in the index. */
export interface Places {
  runs: ReadonlyMap<number, number>
  sets: ReadonlyMap<number, number>
}

export interface IndexParts {
  version: string
  files: Files
  runs: Runs
  sets: readonly FeatureSet[]
  places: Places
  units: readonly Coded[]
  platforms: readonly Coded[]
}

export interface FileFacts {
  runId: number
  setId: number
  moduleId: string | null
}

/** The files that match the filters, in the order of the listing. */
export interface Matches {
  count: number
  idsAt(offset: number, limit: number): number[]
}

export class ListingIndex {
  readonly version: string
  readonly codes: Codes
  readonly units: readonly Coded[]
  readonly platforms: readonly Coded[]
  readonly places: Places
  readonly #parts: IndexParts
  readonly #selection: FileSelection
  readonly #classes: FileClasses | undefined
  /** The case-folded names of each set. */
  readonly #folded: readonly (readonly string[])[]

  constructor(parts: IndexParts) {
    this.version = parts.version
    this.units = parts.units
    this.platforms = parts.platforms
    this.places = parts.places
    this.codes = { units: codesOf(parts.units), platforms: codesOf(parts.platforms) }
    this.#parts = parts
    this.#selection = new FileSelection(parts.files, parts.runs.ids.length)
    this.#classes = classify(parts.files, parts.runs, parts.sets.length)
    this.#folded = parts.sets.map(({ names }) => names.map(foldCase))
  }

  get size(): number {
    return this.#parts.files.ids.length
  }

  /** False for a file whose run or feature types are newer than the index. */
  knows({ runId, setId }: Pick<FileFacts, 'runId' | 'setId'>): boolean {
    return this.places.runs.has(runId) && this.places.sets.has(setId)
  }

  featureTypesOf(setId: number): readonly string[] {
    return this.#parts.sets[this.places.sets.get(setId) ?? -1]?.names ?? []
  }

  /** All files that match the filters, in order. `filesOf` reads the files that have one of the module ids. */
  async match(filters: Filters, filesOf: (moduleIds: readonly string[]) => Promise<Files>): Promise<Matches> {
    const { ids } = this.#parts.files
    if (isEmpty(filters)) return matchesOf(ids)
    const setMask = this.#setMask(filters)
    if (filters.moduleIds !== undefined) {
      return matchesOf(pick(await filesOf(filters.moduleIds), this.#runMask(filters), setMask))
    }
    const isByRun = filters.runIds !== undefined || filters.resourceIds !== undefined
    if (isByRun || this.#classes === undefined) {
      return matchesOf(ids, this.#selection.select(this.#runMask(filters), setMask))
    }
    return this.#matchClasses(this.#classes, filters, setMask)
  }

  #matchClasses(classes: FileClasses, filters: Filters, setMask: Uint8Array): Matches {
    const { ids } = this.#parts.files
    const units = placesOfCodes(this.units, filters.units)
    const platforms = placesOfCodes(this.platforms, filters.platforms)
    const matches = classes.match(({ unit, platform, set }) => {
      return (units?.includes(unit) ?? true) && (platforms?.includes(platform) ?? true) && setMask[set] === 1
    })
    return {
      count: matches.count,
      idsAt: (offset, limit) => matches.placesAt(offset, limit).map(place => ids[place] ?? 0),
    }
  }

  /** The same check for one file, listed or not. */
  lets(filters: Filters, { runId, setId, moduleId }: FileFacts): boolean {
    if (isEmpty(filters)) return true
    const run = this.places.runs.get(runId) ?? -1
    const set = this.places.sets.get(setId) ?? -1
    const isModule = filters.moduleIds?.includes(foldCase(moduleId ?? '')) ?? true
    return isModule && this.#runMask(filters)[run] === 1 && this.#setMask(filters)[set] === 1
  }

  /** 1 for each run whose files match. */
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
    if (featureTypes === undefined) return new Uint8Array(this.#folded.length).fill(1)
    const wanted = new Set(featureTypes)
    return Uint8Array.from(this.#folded, names => (names.some(name => wanted.has(name)) ? 1 : 0))
  }
}

function codesOf(coded: readonly Coded[]): ReadonlySet<string> {
  return new Set(coded.map(({ code }) => code))
}

export function placesOf(ids: Iterable<number>): Map<number, number> {
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

/** All of the ids, or the ids at the positions. */
function matchesOf(ids: Float64Array, places?: Int32Array): Matches {
  if (places === undefined) {
    return { count: ids.length, idsAt: (offset, limit) => [...ids.subarray(offset, offset + limit)] }
  }
  return {
    count: places.length,
    idsAt: (offset, limit) => Array.from(places.subarray(offset, offset + limit), place => ids[place] ?? 0),
  }
}

/** Filters files that are only a part of the listing; one may be newer than the index, with an unknown run. */
function pick({ ids, runs, sets }: Files, runMask: Uint8Array, setMask: Uint8Array): Float64Array {
  return ids.filter((_, i) => runMask[runs[i] ?? -1] === 1 && setMask[sets[i] ?? -1] === 1)
}

function isEmpty(filters: Filters): boolean {
  return Object.values(filters).every(wanted => wanted === undefined)
}
