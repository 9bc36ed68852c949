/**
 * Expires raw readings by whole days and keeps their hours. The steps may be interrupted and repeated:
 *
 * 1. Readings of the day are refused, durably, and QuestDB applies all readings accepted before.
 * 2. With an archive, the rows of the day are written to it and read back.
 * 3. The hours of the day are kept in separate tables and compared with the readings and the values of custom metrics.
 * 4. The day is marked: from then on queries read its hours from those tables only. Other nodes are notified.
 * 5. When no query from before the mark is running at any node, its partitions are dropped. Rows of the day that a
 *    replay of the journal restores later are dropped, too, after the archive has them.
 */

import type { Ingest } from '../../../ingest/ingest.ts'
import type { ShownReplica } from '../../../ingest/write-path.ts'
import { bug } from '../../../store/limits/bug.ts'
import { ensureExpiryTables } from '../../../store/questdb/questdb-tables.ts'
import type { Exec } from '../../../store/questdb/until-applied.ts'
import {
  dayText,
  dropDays,
  expireDay,
  hasAllHours,
  keepDay,
  listRawDays,
  type RawDay,
  readExpiredBeforeMs,
} from './expired-days.ts'
import { type ExpiringTable, expiringMeasurements, expiringReadings } from './expiring-tables.ts'
import { type AcceptedFrom, dayMs } from './horizon.ts'
import type { SharedLock } from './shared-lock.ts'

/** Archive of the QuestDB whose days expire. */
interface DayArchive {
  /** Resolves when all rows of a day are archived. */
  keep(startMs: number): Promise<void>
  /** True if all rows are archived: later ones may have arrived since. */
  holds(startMs: number): Promise<boolean>
}

export interface ExpiryOptions {
  acceptedFrom: Pick<AcceptedFrom, 'raise' | 'raisedMs'>
  exec: Exec
  /** End of the journal, and the part that the QuestDB shows. */
  readings: Pick<Ingest, 'endOfAll'> & Pick<ShownReplica, 'applied' | 'onLost'>
  /** Held while a day is marked or removed. */
  lock: Pick<SharedLock, 'tryExclusive'>
  monotonicMs: () => number
  /** After this time, queries from before the mark of a day, or before other nodes were notified, have ended. */
  graceMs: number
  /** Resolves when all nodes have the bound of expired days; undefined for a single process. */
  notifyNodes?: ((beforeMs: number) => Promise<void>) | undefined
  /** Marks days without readings here, which other replicas may have: all are marked up to the same day. */
  marksEmptyDays?: boolean
  /** Archives each day before it is marked or removed; undefined without an archive. */
  archive?: DayArchive | undefined
}

type Pause = () => Promise<void>

export class Expiry {
  readonly #options: ExpiryOptions
  #expiredBeforeMs = Number.NEGATIVE_INFINITY
  /** Number of notifications from other nodes. */
  #notifications = 0
  /** Bound of expired days that all nodes have, and the time since then. */
  #notifiedMs: number
  #notifiedAtMs = Number.NEGATIVE_INFINITY
  /** Number of times that QuestDB may have lost applied rows. */
  #losses = 0
  /** Position that has to be applied before the days before a moment can expire. */
  #needed: { beforeMs: number; position: number; losses: number } | undefined

  constructor(options: ExpiryOptions) {
    this.#options = options
    // At the start of the service, no query is running.
    this.#notifiedMs = options.notifyNodes === undefined ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
    options.readings.onLost(() => this.#losses++)
  }

  /** Days before this have expired; -Infinity if none have. Epoch milliseconds. */
  get expiredBeforeMs(): number {
    return this.#expiredBeforeMs
  }

  /** Reads expired days from QuestDB and returns days with raw readings. */
  async look(): Promise<RawDay[]> {
    const { exec } = this.#options
    await ensureExpiryTables({ exec })
    const notifications = this.#notifications
    const foundMs = await readExpiredBeforeMs(exec)
    // The result may lack marks that another node has made meanwhile.
    this.#expiredBeforeMs = notifications === this.#notifications ? foundMs : Math.max(foundMs, this.#expiredBeforeMs)
    return await listRawDays(exec)
  }

  /** Call it when another node has marked the days before this. */
  notified(beforeMs: number): void {
    this.#notifications++
    this.#expiredBeforeMs = Math.max(beforeMs, this.#expiredBeforeMs)
  }

  /** Marks the days before this moment, as far as possible now. */
  async expire(beforeMs: number, pause: Pause): Promise<void> {
    const { exec, lock } = this.#options
    if (beforeMs <= this.#expiredBeforeMs) return
    if (beforeMs % dayMs !== 0) throw bug(`days before ${beforeMs} are to expire, which begins no day`)
    if (!(await this.#isComplete(beforeMs))) return
    for (const day of await this.#daysBefore(beforeMs)) {
      if (day.startMs < this.#expiredBeforeMs) continue
      // Each day takes the lock separately: an erasure or a backup runs in between, and the rest continues in the next
      // run.
      await this.#options.archive?.keep(day.startMs)
      let isMarked = false
      await lock.tryExclusive(async () => {
        if (!(await this.#areArchived([day.startMs]))) return
        await expireDay(exec, day, pause)
        this.#expiredBeforeMs = await readExpiredBeforeMs(exec)
        // A restarted QuestDB that does not sync has lost the mark.
        if (this.#expiredBeforeMs < day.startMs + dayMs) throw new Error(`the mark of ${dayText(day.startMs)} is lost`)
        isMarked = true
      })
      if (isMarked) await this.#notify()
      if (!isMarked || this.#needed?.losses !== this.#losses) return
    }
  }

  async #daysBefore(beforeMs: number): Promise<RawDay[]> {
    const { exec, marksEmptyDays = false } = this.#options
    const days = (await listRawDays(exec)).filter(({ startMs }) => startMs < beforeMs)
    const last = { startMs: beforeMs - dayMs, readings: 0 }
    return marksEmptyDays && days.at(-1)?.startMs !== last.startMs ? [...days, last] : days
  }

  /** Removes the raw readings of days that were marked before the grace time; returns these days. */
  async remove(pause: Pause): Promise<RawDay[]> {
    const { exec, lock, monotonicMs, graceMs } = this.#options
    // The node that marked them may have ended before it notified the others.
    if (this.#notifiedMs < this.#expiredBeforeMs) await this.#notify()
    if (monotonicMs() - this.#notifiedAtMs < graceMs) return []
    const readings = await this.#listExpired(expiringReadings)
    const measurements = await this.#listExpired(expiringMeasurements)
    if (readings.length === 0 && measurements.length === 0) return []
    const starts = new Set([...readings, ...measurements].map(({ startMs }) => startMs))
    for (const startMs of starts) await this.#options.archive?.keep(startMs)
    let isDone = false
    await lock.tryExclusive(async () => {
      if (!(await this.#areArchived(starts))) return
      await this.#ensureHours(readings, measurements, pause)
      // Values are read together with their readings, so values that a crash leaves behind are invisible.
      if (readings.length > 0) await dropDays(exec, expiringReadings, this.#expiredBeforeMs, pause)
      if (measurements.length > 0) await dropDays(exec, expiringMeasurements, this.#expiredBeforeMs, pause)
      isDone = true
    })
    return isDone ? readings : []
  }

  async #areArchived(starts: Iterable<number>): Promise<boolean> {
    const { archive } = this.#options
    for (const startMs of starts) if ((await archive?.holds(startMs)) === false) return false
    return true
  }

  async #notify(): Promise<void> {
    const beforeMs = this.#expiredBeforeMs
    await this.#options.notifyNodes?.(beforeMs)
    this.#notifiedMs = Math.max(beforeMs, this.#notifiedMs)
    this.#notifiedAtMs = this.#options.monotonicMs()
  }

  async #listExpired(table: ExpiringTable): Promise<RawDay[]> {
    return (await listRawDays(this.#options.exec, table)).filter(({ startMs }) => startMs < this.#expiredBeforeMs)
  }

  /** Keeps hours that QuestDB has lost, and hours of values whose day expired with an earlier version. */
  async #ensureHours(readings: readonly RawDay[], measurements: readonly RawDay[], pause: Pause): Promise<void> {
    const { exec } = this.#options
    for (const day of measurements) {
      if ((await hasAllHours(exec, expiringMeasurements, day)) !== true) {
        await keepDay(exec, expiringMeasurements, day, pause)
      }
    }
    for (const day of readings) {
      if ((await hasAllHours(exec, expiringReadings, day)) === false) await keepDay(exec, expiringReadings, day, pause)
    }
  }

  /** True if all readings accepted before the moment are applied. */
  async #isComplete(beforeMs: number): Promise<boolean> {
    const { acceptedFrom, readings } = this.#options
    await acceptedFrom.raise(beforeMs)
    const fromMs = acceptedFrom.raisedMs()
    if (fromMs < beforeMs) throw bug(`readings from ${fromMs} on are accepted, and the days before ${beforeMs} expire`)
    if (this.#needed?.beforeMs !== beforeMs || this.#needed.losses !== this.#losses) {
      const losses = this.#losses
      this.#needed = { beforeMs, position: await readings.endOfAll(), losses }
    }
    return (readings.applied() ?? 0) >= this.#needed.position
  }
}
