/** The files in which the forwarder leaves dead letters, until they are in PostgreSQL. */

import { type DeadLetter, deadLettersMax } from '../forwarder/dead-letter.ts'
import { listDeadLetters } from '../forwarder/dead-letters.ts'

export class LetterFiles {
  readonly #directory: string
  /** Letters that are in PostgreSQL, while their files are being removed. */
  readonly #moved = new Set<number>()

  constructor(directory: string) {
    this.#directory = directory
  }

  /** There is a new folder. */
  restart(): void {
    this.#moved.clear()
  }

  /** Those that are not known to be in PostgreSQL; `count` files are there, at the most. */
  async list(count: number): Promise<DeadLetter[]> {
    const listed = count === 0 ? [] : await listDeadLetters(this.#directory, -1, deadLettersMax)
    const left = new Set(listed.map(({ id }) => id))
    for (const id of this.#moved) if (!left.has(id)) this.#moved.delete(id)
    return listed.filter(({ id }) => !this.#moved.has(id))
  }

  /** They are in PostgreSQL, and their files are about to be removed. */
  moved(ids: readonly number[]): void {
    for (const id of ids) this.#moved.add(id)
  }
}
