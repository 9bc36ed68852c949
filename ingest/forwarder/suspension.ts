/**
 * A suspended table takes rows and shows none. That is logged as an error. Where the cause may go away by itself, the table is
 * resumed at once and then every half minute: it recovers without an operator when a disk has room again.
 */

import type { Log } from '../../store/log.ts'
import type { Timing } from '../timing.ts'
import { isTransientSuspension, type TableState } from './table-state.ts'

export interface SuspensionWatchOptions {
  /** Its name. */
  table: string
  resume: () => Promise<void>
  timing: Timing
  log: Log
}

const resumeEveryMs = 30_000

export class SuspensionWatch {
  readonly #options: SuspensionWatchOptions
  #suspended = false
  #resumedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: SuspensionWatchOptions) {
    this.#options = options
  }

  get suspended(): boolean {
    return this.#suspended
  }

  async observe({ suspended, errorMessage }: TableState): Promise<void> {
    const { table, resume, timing, log } = this.#options
    if (suspended && !this.#suspended) {
      log.error({ table, reason: errorMessage }, 'QuestDB suspended the table; readings wait in the journal')
    }
    this.#suspended = suspended
    const isDue = timing.monotonicMs() - this.#resumedAtMs >= resumeEveryMs
    if (suspended && isDue && isTransientSuspension(errorMessage)) {
      this.#resumedAtMs = timing.monotonicMs()
      log.warn({ table, reason: errorMessage }, 'resuming the suspended table')
      await resume()
    }
  }
}
