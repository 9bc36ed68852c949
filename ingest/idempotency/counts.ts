/** The number of rows of each writer, read once: no other process writes to the table. */

import { bug } from '../../limits/bug.ts'

export interface Counts {
  /** Reads them, unless they are known. */
  load(): Promise<void>
  /** They are to be read again. */
  forget(): void
  of(writer: string): number
  add(writer: string, count: number): void
  /** Whether a writer may have one more row; each row that it grants counts for the next. */
  roomFor(ofWriterMax: number, ofAllMax: number): (writer: string) => boolean
}

export function createCounts(read: () => Promise<Map<string, number>>): Counts {
  let known: Map<string, number> | undefined
  let total = 0

  function add(writer: string, count: number): void {
    if (known === undefined) return
    const sum = of(writer) + count
    if (sum < 0) throw bug(`${writer} has ${sum} rows`)
    if (sum > 0) known.set(writer, sum)
    else known.delete(writer)
    total += count
  }

  const of = (writer: string) => known?.get(writer) ?? 0

  return {
    async load() {
      if (known !== undefined) return
      known = await read()
      total = known.values().reduce((sum, count) => sum + count, 0)
    },
    forget() {
      known = undefined
    },
    of,
    add,
    roomFor(ofWriterMax, ofAllMax) {
      if (known === undefined) throw bug('the counts of keys are not loaded')
      const granted = new Map<string, number>()
      let grantedTotal = 0
      return writer => {
        const ofWriter = granted.get(writer) ?? 0
        if (of(writer) + ofWriter >= ofWriterMax || total + grantedTotal >= ofAllMax) return false
        granted.set(writer, ofWriter + 1)
        grantedTotal++
        return true
      }
    },
  }
}
