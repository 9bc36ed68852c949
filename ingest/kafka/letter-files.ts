/** The forwarder's files of dead letters, until they are in PostgreSQL. */

import { type DeadLetter, deadLettersMax, isWhole } from '../forwarder/dead-letter.ts'
import { listDeadLetters } from '../forwarder/dead-letters.ts'
import type { TableDescription } from '../table.ts'

export class LetterFiles {
  readonly #table: TableDescription
  readonly #directory: string
  /** Dead letters in PostgreSQL whose files are being removed. */
  readonly #moved = new Set<number>()

  constructor(table: TableDescription, directory: string) {
    this.#table = table
    this.#directory = directory
  }

  /** The folder was recreated. */
  restart(): void {
    this.#moved.clear()
  }

  /** Dead letters that may be missing in PostgreSQL, and the names of damaged ones. At most `count` files exist. */
  async list(count: number): Promise<{ letters: DeadLetter[]; damaged: string[] }> {
    const listed = count === 0 ? [] : await listDeadLetters(this.#table, this.#directory, -1, deadLettersMax)
    const left = new Set(listed.map(({ id }) => id))
    for (const id of this.#moved) if (!left.has(id)) this.#moved.delete(id)
    const due = listed.filter(({ id }) => !this.#moved.has(id))
    return { letters: due.filter(isWhole), damaged: due.flatMap(letter => (isWhole(letter) ? [] : [letter.name])) }
  }

  /** Marks dead letters as stored in PostgreSQL before their files are removed. */
  moved(ids: readonly number[]): void {
    for (const id of ids) this.#moved.add(id)
  }
}
