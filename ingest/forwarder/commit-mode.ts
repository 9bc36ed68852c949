/**
 * QuestDB's commit mode: whether applied rows are on its disk. An external QuestDB may restart in another mode, so the mode is
 * polled while it matters.
 */

import type { Log } from '../../store/log.ts'
import type { Timing } from '../timing.ts'
import type { QuestdbConnection } from './questdb.ts'

export interface CommitModeOptions {
  connection: QuestdbConnection
  /** The previously observed mode. */
  isSynced: boolean
  timing: Timing
  log: Log
}

/** QuestDB takes longer than this to restart. */
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

  /** The mode in effect. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  /**
   * Returns the current mode. Throws when QuestDB does not answer. A recent answer is reused, unless QuestDB may have restarted
   * since.
   */
  async query(mayHaveRestarted: boolean): Promise<boolean> {
    const { connection, timing } = this.#options
    if (!mayHaveRestarted && timing.monotonicMs() - this.#queriedAtMs < queryEveryMs) return this.#isSynced
    const [row] = await connection.query(sql)
    return row?.[0] === 'sync'
  }

  /** Takes effect at once. */
  set(isSynced: boolean): void {
    this.#queriedAtMs = this.#options.timing.monotonicMs()
    if (isSynced === this.#isSynced) return
    this.#isSynced = isSynced
    this.#options.log.warn({ isSynced }, 'QuestDB has another commit mode now')
  }
}
