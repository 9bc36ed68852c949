/**
 * Groups files into classes by offering unit, platform and set of feature types. There are some hundred classes, and
 * each block of the listing has a count for each class. So a filter without a run counts its matches, and finds any
 * offset, by adding up blocks: 0.1 ms, where a scan of half a million files takes 2 ms.
 */

/** Positions of a run's unit and platform among the codes. */
export interface RunColumns {
  units: Int32Array
  platforms: Int32Array
}

export interface FileClass {
  unit: number
  platform: number
  set: number
}

const filesPerBlock = 2_048
/** A filter visits each class of each block. */
const classesMax = 4_096
/** Units × platforms × sets; few combinations have files. */
const combinationsMax = 1_000_000

export class FileClasses {
  readonly #classes: readonly FileClass[]
  readonly #classOf: Uint16Array
  /** Counts by block, then by class. */
  readonly #counts: Uint16Array

  constructor(classes: readonly FileClass[], classOf: Uint16Array) {
    this.#classes = classes
    this.#classOf = classOf
    this.#counts = new Uint16Array(Math.ceil(classOf.length / filesPerBlock) * classes.length)
    for (let file = 0; file < classOf.length; file++) {
      const at = Math.floor(file / filesPerBlock) * classes.length + (classOf[file] ?? 0)
      this.#counts[at] = (this.#counts[at] ?? 0) + 1
    }
  }

  match(isWanted: (one: FileClass) => boolean): ClassMatches {
    const mask = Uint8Array.from(this.#classes, one => (isWanted(one) ? 1 : 0))
    return new ClassMatches(mask, this.#classOf, this.#blockCounts(mask))
  }

  #blockCounts(mask: Uint8Array): Uint32Array {
    const width = mask.length
    const wanted = [...mask.keys()].filter(one => mask[one] === 1)
    const blockCounts = new Uint32Array(width === 0 ? 0 : this.#counts.length / width)
    for (let block = 0; block < blockCounts.length; block++) {
      let count = 0
      for (const one of wanted) count += this.#counts[block * width + one] ?? 0
      blockCounts[block] = count
    }
    return blockCounts
  }
}

/** The files of the wanted classes. */
export class ClassMatches {
  readonly count: number
  readonly #mask: Uint8Array
  readonly #classOf: Uint16Array
  readonly #blockCounts: Uint32Array

  constructor(mask: Uint8Array, classOf: Uint16Array, blockCounts: Uint32Array) {
    this.#mask = mask
    this.#classOf = classOf
    this.#blockCounts = blockCounts
    this.count = blockCounts.reduce((sum, count) => sum + count, 0)
  }

  /** Returns positions of files in the listing. */
  placesAt(offset: number, limit: number): number[] {
    const places: number[] = []
    let skipped = 0
    for (let block = 0; block < this.#blockCounts.length && places.length < limit; block++) {
      const count = this.#blockCounts[block] ?? 0
      if (count > 0 && skipped + count > offset) this.#collect(block, Math.max(offset - skipped, 0), limit, places)
      skipped += count
    }
    return places
  }

  /** Collects matches of a block after the first `passed`, until `places` has `limit` entries. */
  #collect(block: number, passed: number, limit: number, places: number[]): void {
    const end = Math.min((block + 1) * filesPerBlock, this.#classOf.length)
    let left = passed
    for (let file = block * filesPerBlock; file < end && places.length < limit; file++) {
      if (this.#mask[this.#classOf[file] ?? 0] !== 1) continue
      if (left > 0) left--
      else places.push(file)
    }
  }
}

/** Undefined where there are too many classes for this to be quick. */
export function classify(files: FileColumns, runs: RunColumns, setsCount: number): FileClasses | undefined {
  const platformsCount = 1 + runs.platforms.reduce((most, place) => Math.max(most, place), 0)
  const unitsCount = 1 + runs.units.reduce((most, place) => Math.max(most, place), 0)
  const combinations = unitsCount * platformsCount * setsCount
  if (combinations > combinationsMax) return undefined
  const classes: FileClass[] = []
  const classAt = new Int32Array(combinations).fill(-1)
  const classOf = new Uint16Array(files.runs.length)
  for (let file = 0; file < classOf.length; file++) {
    const run = files.runs[file] ?? 0
    const set = files.sets[file] ?? 0
    const unit = runs.units[run] ?? 0
    const platform = runs.platforms[run] ?? 0
    const at = (unit * platformsCount + platform) * setsCount + set
    let one = classAt[at] ?? -1
    if (one < 0) {
      one = classes.push({ unit, platform, set }) - 1
      classAt[at] = one
      if (classes.length > classesMax) return undefined
    }
    classOf[file] = one
  }
  return new FileClasses(classes, classOf)
}

/** Picks files by their run and set of feature types: along the whole listing, or run by run where runs are few. */

/** Columns of one length; row i is file i of the listing. */
export interface FileColumns {
  /** Positions among the runs and the sets. Each file has both. */
  runs: Int32Array
  sets: Int32Array
}

/** Number of files that are scanned in the time that sorts one. */
const passedByPerSorted = 32

export class FileSelection {
  readonly #files: FileColumns
  readonly #scratch: Int32Array
  /** Files grouped by run, each group in order. The group of run r ends where the next begins. */
  readonly #grouped: Int32Array
  readonly #starts: Int32Array

  constructor(files: FileColumns, runsCount: number) {
    const { length } = files.runs
    this.#files = files
    this.#scratch = new Int32Array(length)
    this.#starts = startsOf(files.runs, runsCount)
    this.#grouped = new Int32Array(length)
    const next = this.#starts.slice()
    for (let i = 0; i < length; i++) {
      const run = files.runs[i] ?? 0
      const at = next[run] ?? 0
      this.#grouped[at] = i
      next[run] = at + 1
    }
  }

  /** Positions of the files whose run and set have a 1 in the masks, ascending. */
  select(runMask: Uint8Array, setMask: Uint8Array): Int32Array {
    let count = 0
    for (let run = 0; run < runMask.length; run++) {
      if (runMask[run] === 1) count += (this.#starts[run + 1] ?? 0) - (this.#starts[run] ?? 0)
    }
    const isFew = count * passedByPerSorted < this.#scratch.length
    return isFew ? this.#selectRunByRun(runMask, setMask) : this.#selectAlong(runMask, setMask)
  }

  /**
   * Half a million files take 2 ms. With a branch in the loop they would take 5, since the matches are unpredictable.
   */
  #selectAlong(runMask: Uint8Array, setMask: Uint8Array): Int32Array {
    const { runs, sets } = this.#files
    const scratch = this.#scratch
    let count = 0
    for (let i = 0; i < runs.length; i++) {
      scratch[count] = i
      count += (runMask[runs[i] ?? 0] ?? 0) & (setMask[sets[i] ?? 0] ?? 0)
    }
    return scratch.slice(0, count)
  }

  #selectRunByRun(runMask: Uint8Array, setMask: Uint8Array): Int32Array {
    const { sets } = this.#files
    const scratch = this.#scratch
    let count = 0
    for (let run = 0; run < runMask.length; run++) {
      if (runMask[run] !== 1) continue
      const end = this.#starts[run + 1] ?? 0
      for (let at = this.#starts[run] ?? 0; at < end; at++) {
        const file = this.#grouped[at] ?? 0
        scratch[count] = file
        count += setMask[sets[file] ?? 0] ?? 0
      }
    }
    return scratch.slice(0, count).sort()
  }
}

function startsOf(runs: Int32Array, runsCount: number): Int32Array {
  const starts = new Int32Array(runsCount + 1)
  for (let i = 0; i < runs.length; i++) {
    const behind = (runs[i] ?? 0) + 1
    starts[behind] = (starts[behind] ?? 0) + 1
  }
  for (let run = 0; run < runsCount; run++) starts[run + 1] = (starts[run + 1] ?? 0) + (starts[run] ?? 0)
  return starts
}
