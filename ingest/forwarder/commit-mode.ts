/**
 * Whether QuestDB has on its disk what it has applied. An external one may restart in another mode, so it is queried
 * again and again while the answer matters.
 */

import type { Log } from '../../store/log.ts'
import type { Timing } from '../timing.ts'
import type { QuestdbConnection } from './questdb.ts'

export interface CommitModeOptions {
  connection: QuestdbConnection
  /** As it was found before. */
  isSynced: boolean
  timing: Timing
  log: Log
}

/** QuestDB does not restart within this time. */
const queryEveryMs = 1000
const sql = "SELECT value FROM (SHOW PARAMETERS) WHERE property_path = 'cairo.commit.mode'"

export class CommitMode {
  readonly #options: CommitModeOptions
  #isSynced: boolean
  #queriedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: CommitModeOptions) {
    this.#options = options
    this.#isSynced = options.isSynced
  }

  /** The mode that is in effect. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  /** As it is now; throws when QuestDB does not answer. A recent answer is reused, unless QuestDB may have restarted since. */
  async query(mayHaveRestarted: boolean): Promise<boolean> {
    const { connection, timing } = this.#options
    if (!mayHaveRestarted && timing.monotonicMs() - this.#queriedAtMs < queryEveryMs) return this.#isSynced
    const [row] = await connection.query(sql)
    return row?.[0] === 'sync'
  }

  /** Takes effect now. */
  set(isSynced: boolean): void {
    this.#queriedAtMs = this.#options.timing.monotonicMs()
    if (isSynced === this.#isSynced) return
    this.#isSynced = isSynced
    this.#options.log.warn({ isSynced }, 'QuestDB has another commit mode now')
  }
}
