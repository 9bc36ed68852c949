/** Picks files by their run and set of feature types: along the whole listing, or run by run where runs are few. */

/** Columns of one length; row i is file i of the listing. */
export interface FileColumns {
  /** Positions among the runs and the sets. Each file has both. */
  runs: Int32Array
  sets: Int32Array
}

/** How many files can be scanned in the time that it takes to sort one. */
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
