/**
 * Whether QuestDB has on its disk what it has applied. A given one may come back in another mode, so it is asked again and
 * again while the answer matters.
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

/** No QuestDB is gone and back within this time. */
const askEveryMs = 1000
const sql = "SELECT value FROM (SHOW PARAMETERS) WHERE property_path = 'cairo.commit.mode'"

export class CommitMode {
  readonly #options: CommitModeOptions
  #isSynced: boolean
  #askedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: CommitModeOptions) {
    this.#options = options
    this.#isSynced = options.isSynced
  }

  /** As it was last set. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  /** As it is now; throws when QuestDB does not answer. What was asked a moment ago counts, unless it may have been away since. */
  async ask(mayHaveBeenAway: boolean): Promise<boolean> {
    const { connection, timing } = this.#options
    if (!mayHaveBeenAway && timing.monotonicMs() - this.#askedAtMs < askEveryMs) return this.#isSynced
    const [row] = await connection.query(sql)
    return row?.[0] === 'sync'
  }

  /** From here on it counts. */
  set(isSynced: boolean): void {
    this.#askedAtMs = this.#options.timing.monotonicMs()
    if (isSynced === this.#isSynced) return
    this.#isSynced = isSynced
    this.#options.log.warn({ isSynced }, 'QuestDB has come back in another commit mode')
  }
}
