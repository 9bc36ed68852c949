/** Names of a body's fields that are not stored: otherwise misspelled names would be lost silently. */

import { shortenedName } from '../field-names.ts'
import type { NamesOfOthers } from './chunk.ts'

const namesMax = 100
/** Limit for all headers together. */
const columnsMax = 10_000

export class IgnoredFields {
  readonly #ignored = new Set<string>()
  readonly #stored = new Set<string>()
  /** For a CSV body: unknown columns of its headers, in their own spelling. */
  #columns: readonly string[] = []

  addColumns(columns: readonly string[]): void {
    this.#columns = [...new Set([...this.#columns, ...columns])].slice(0, columnsMax)
  }

  add({ stored, ignored }: NamesOfOthers): void {
    for (const name of ignored) if (this.#ignored.size < namesMax + this.#columns.length) this.#ignored.add(name)
    // A stored value matches its column.
    if (this.#columns.length > 0) for (const name of stored) this.#stored.add(name)
  }

  /** For CSV: unknown columns without any stored value. For other formats: the first 100 names, shortened. */
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
