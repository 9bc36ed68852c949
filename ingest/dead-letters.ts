/** The interface of dead letters: the forwarder stores them, and an operator inspects and replays them. */

import {
  deadLettersMax,
  isWhole,
  type ListedLetter,
  listDeadLetters,
  recordOf,
  removeDeadLetter,
  syncFolder,
} from './forwarder/dead-letters.ts'
import type { Outcome } from './journal/outcome.ts'
import type { TableDescription } from './table.ts'

export interface DeadLetters {
  /** Ascending by position in the journal, after the id `after`. */
  list(after: number, limit: number): Promise<ListedLetter[]>
  /**
   * Appends their records again and removes the dead letters durably; all of them without ids. Counts damaged ones, which stay.
   */
  replay(ids?: number[]): Promise<{ replayed: number; damaged: number; outcome: Outcome }>
  /** Removes dead letters and their records permanently and durably. Returns their number. */
  discard(ids: readonly number[]): Promise<number>
}

/** Storage of dead letters. */
export interface LetterStore {
  /** Ascending by id, after the id `after`. */
  list(after: number, limit: number): Promise<ListedLetter[]>
  /** Removes them permanently, durable when it resolves. Returns their number. */
  remove(ids: readonly number[]): Promise<number>
}

const replayBatchMax = 1000

export function createDeadLetters(
  table: TableDescription,
  letters: LetterStore,
  append: (records: Uint8Array) => Promise<Outcome>,
): DeadLetters {
  return {
    list: letters.list,
    discard: letters.remove,
    async replay(ids) {
      const all = await letters.list(-1, deadLettersMax)
      const wanted = all.filter(letter => ids === undefined || ids.includes(letter.id))
      const chosen = wanted.filter(isWhole)
      let replayed = 0
      let outcome: Outcome = 'stored'
      while (replayed < chosen.length && outcome === 'stored') {
        const batch = chosen.slice(replayed, replayed + replayBatchMax)
        outcome = await append(Buffer.concat(batch.map(letter => recordOf(table, letter))))
        if (outcome !== 'stored') break
        await letters.remove(batch.map(({ id }) => id))
        replayed += batch.length
      }
      return { replayed, damaged: wanted.length - chosen.length, outcome }
    },
  }
}

/** Dead letters as files in the directory. `onRemoved` removes those that the forwarder has rewritten meanwhile. */
export function lettersIn(
  table: TableDescription,
  directory: string,
  onRemoved: (ids: readonly number[]) => Promise<void>,
): LetterStore {
  return {
    list: (after, limit) => listDeadLetters(table, directory, after, limit),
    async remove(ids) {
      const removed = await Promise.all(ids.map(id => removeDeadLetter(directory, id)))
      // The folder is missing until the forwarder has started.
      await syncFolder(directory)
      await onRemoved(ids)
      return removed.filter(isRemoved => isRemoved).length
    },
  }
}
