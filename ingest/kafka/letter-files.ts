/** The files in which the forwarder leaves dead letters, until they are in PostgreSQL. */

import { type DeadLetter, deadLettersMax, isWhole } from '../forwarder/dead-letter.ts'
import { listDeadLetters } from '../forwarder/dead-letters.ts'
import type { TableDescription } from '../table.ts'

export class LetterFiles {
  readonly #table: TableDescription
  readonly #directory: string
  /** Letters that are in PostgreSQL, while their files are being removed. */
  readonly #moved = new Set<number>()

  constructor(table: TableDescription, directory: string) {
    this.#table = table
    this.#directory = directory
  }

  /** There is a new folder. */
  restart(): void {
    this.#moved.clear()
  }

  /** Those that are not known to be in PostgreSQL, and the names of damaged ones; `count` files are there, at the most. */
  async list(count: number): Promise<{ letters: DeadLetter[]; damaged: string[] }> {
    const listed = count === 0 ? [] : await listDeadLetters(this.#table, this.#directory, -1, deadLettersMax)
    const left = new Set(listed.map(({ id }) => id))
    for (const id of this.#moved) if (!left.has(id)) this.#moved.delete(id)
    const due = listed.filter(({ id }) => !this.#moved.has(id))
    return { letters: due.filter(isWhole), damaged: due.flatMap(letter => (isWhole(letter) ? [] : [letter.name])) }
  }

  /** They are in PostgreSQL, and their files are about to be removed. */
  moved(ids: readonly number[]): void {
    for (const id of ids) this.#moved.add(id)
  }
}
