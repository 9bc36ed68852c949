/**
 * Asks QuestDB what it has applied, so that the journal may forget it, and notices when it has lost what it had taken.
 */

import type { FaultNotes } from './fault-notes.ts'
import type { Log } from './log.ts'
import type { QuestdbConnection } from './questdb.ts'
import type { Retention } from './retention.ts'
import type { Progress, Settlement } from './settlement.ts'
import type { Sleeper } from './sleeper.ts'
import { SuspensionWatch } from './suspension.ts'
import { readTableState, resumeTable, type TableState } from './table-state.ts'
import type { Timing } from './timing.ts'

export interface SettlingOptions {
  connection: QuestdbConnection
  settlement: Settlement
  retention: Retention
  faults: FaultNotes
  sleeper: Sleeper
  /** Zero when what QuestDB has applied is on its disk. */
  keepMs: number
  /** How far the lanes are; undefined until they have gone back, for what they send meanwhile is sent again. */
  sent: () => Progress | undefined
  /** Everything that the journal still has is to be sent again. */
  onLost: (reason: string) => void
  timing: Timing
  log: Log
}

/** No QuestDB is gone and back within this time. */
const watchMs = 1000
const pauseMs = 1000

export class Settling {
  readonly #options: SettlingOptions
  readonly #suspension: SuspensionWatch
  #watchedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: SettlingOptions) {
    const { connection, timing, log } = options
    this.#options = options
    this.#suspension = new SuspensionWatch({ resume: () => resumeTable(connection), timing, log })
  }

  get suspended(): boolean {
    return this.#suspension.suspended
  }

  /** Asks once, if there is something to learn. */
  async settle(): Promise<void> {
    const { connection, settlement, faults, sleeper, timing } = this.#options
    const sent = this.#options.sent()
    if (sent === undefined) return
    const { live, backfill } = settlement.applied
    const isIdle = sent.live === live && sent.backfill === backfill
    if (isIdle && !this.#isWatchDue()) return
    settlement.mark(sent)
    try {
      const state = await readTableState(connection)
      this.#watchedAtMs = timing.monotonicMs()
      if (isIdle) faults.note(undefined)
      await this.#suspension.observe(state)
      this.#learn(state)
    } catch (error) {
      faults.noteAway(error instanceof Error ? error.message : String(error))
      await sleeper.sleep(pauseMs)
    }
  }

  #learn(state: TableState): void {
    const { settlement, retention, onLost } = this.#options
    if (this.#mayHaveLost()) {
      onLost('QuestDB was away and does not sync what it applies')
      return
    }
    const seen = settlement.observe(state)
    if (seen === 'lost') onLost('the table in QuestDB is behind what it had taken')
    if (seen === 'applied') retention.forget(settlement.position)
  }

  /** A QuestDB that does not sync may lose what it had applied, even while there is nothing to send. */
  #isWatchDue(): boolean {
    const { keepMs, timing } = this.#options
    return keepMs > 0 && timing.monotonicMs() - this.#watchedAtMs >= watchMs
  }

  #mayHaveLost(): boolean {
    return this.#options.faults.wasAway && this.#options.keepMs > 0
  }
}
