/** Names of the fields of a body that are stored as no metric: a name that is misspelled would otherwise be lost without a word. */

import { shortenedName } from '../field-names.ts'
import type { NamesOfOthers } from './chunk.ts'

const namesMax = 100
/** Of all headers together. */
const columnsMax = 10_000

export class IgnoredFields {
  readonly #ignored = new Set<string>()
  readonly #stored = new Set<string>()
  /** Of a CSV body, the columns of its headers that are not ours, as they stand there. */
  #columns: readonly string[] = []

  addColumns(columns: readonly string[]): void {
    this.#columns = [...new Set([...this.#columns, ...columns])].slice(0, columnsMax)
  }

  add({ stored, ignored }: NamesOfOthers): void {
    for (const name of ignored) if (this.#ignored.size < namesMax + this.#columns.length) this.#ignored.add(name)
    // By a value that is stored, its column is one of ours.
    if (this.#columns.length > 0) for (const name of stored) this.#stored.add(name)
  }

  /**
   * Of CSV, the columns that are not ours and have a value that is stored as no metric, or no value at all. Of others the first
   * 100 names, not at any length.
   */
  list(): string[] {
    const columns = this.#columns.filter(column => {
      const name = column.trim()
      return this.#ignored.has(name) || !this.#stored.has(name)
    })
    const known = new Set(this.#columns.map(column => column.trim()))
    const others = [...this.#ignored].filter(name => !known.has(name)).slice(0, namesMax)
    return [...columns, ...others.map(shortenedName)]
  }
}
