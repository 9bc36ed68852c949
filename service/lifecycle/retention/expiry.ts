/**
 * Makes raw readings expire by whole days, while their hours stay. In this order, in which it may stop anywhere and begin again:
 *
 * 1. Readings of the day are refused, durably, and all that was accepted before is applied in QuestDB.
 * 2. Where there is an archive, the rows of the day are written to it and read back.
 * 3. The hours of the day are kept in tables of their own and compared with the readings and their values without a column.
 * 4. The day is marked: from then on queries take its hours from those tables, whatever the others have of it. Other nodes are told.
 * 5. When no query is left that was planned before, at whichever node, its partitions go; so does what a replay of the journal brings
 *    back later, when the archive has that, too.
 */

import type { Ingest } from '../../../ingest/ingest.ts'
import type { ShownReplica } from '../../../ingest/write-path.ts'
import { bug } from '../../../store/limits/bug.ts'
import { ensureExpiryTables } from '../../../store/questdb/questdb-tables.ts'
import type { Exec } from '../../../store/questdb/until-applied.ts'
import type { AcceptedFrom } from './accepted-from.ts'
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
import { dayMs } from './horizon.ts'
import type { SharedLock } from './shared-lock.ts'

/** Of the QuestDB whose days expire. */
interface DayArchive {
  /** Resolves when all rows of a day are archived. */
  keep(startMs: number): Promise<void>
  /** Whether they still are: rows may have come since. */
  holds(startMs: number): Promise<boolean>
}

export interface ExpiryOptions {
  acceptedFrom: Pick<AcceptedFrom, 'raise' | 'raisedMs'>
  exec: Exec
  /** What is in the journal, and of it, what the QuestDB shows. */
  readings: Pick<Ingest, 'endOfAll'> & Pick<ShownReplica, 'applied' | 'onLost'>
  /** Held while a day is marked or removed. */
  lock: Pick<SharedLock, 'tryExclusive'>
  monotonicMs: () => number
  /** Queries that were planned before a day was marked, or before other nodes knew it, have ended so long after. */
  graceMs: number
  /** Resolves when all nodes know that the days before this have expired; undefined for a service that is alone. */
  tellNodes?: ((beforeMs: number) => Promise<void>) | undefined
  /** Days are marked of which there are no readings here, and may be in other replicas: all are to be marked up to the same day. */
  marksEmptyDays?: boolean
  /** Has each day before it is marked or removed; undefined where nothing is archived. */
  archive?: DayArchive | undefined
}

type Pause = () => Promise<void>

export class Expiry {
  readonly #options: ExpiryOptions
  #expiredBeforeMs = Number.NEGATIVE_INFINITY
  /** How often other nodes have told of expired days. */
  #heard = 0
  /** Up to where all nodes know what has expired, and since when. */
  #toldMs: number
  #toldAtMs = Number.NEGATIVE_INFINITY
  /** How often QuestDB may have lost what it had applied. */
  #losses = 0
  /** What has to be applied before the days before a moment can expire. */
  #needed: { beforeMs: number; position: number; losses: number } | undefined

  constructor(options: ExpiryOptions) {
    this.#options = options
    // Nobody had planned a query when the service started.
    this.#toldMs = options.tellNodes === undefined ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
    options.readings.onLost(() => this.#losses++)
  }

  /** The days before this have expired; -Infinity when none have. Epoch milliseconds. */
  get expiredBeforeMs(): number {
    return this.#expiredBeforeMs
  }

  /** Asks QuestDB which days have expired. Gives those that have raw readings. */
  async look(): Promise<RawDay[]> {
    const { exec } = this.#options
    await ensureExpiryTables({ exec })
    const heard = this.#heard
    const foundMs = await readExpiredBeforeMs(exec)
    // The answer may lack what another node has marked meanwhile.
    this.#expiredBeforeMs = heard === this.#heard ? foundMs : Math.max(foundMs, this.#expiredBeforeMs)
    return await listRawDays(exec)
  }

  /** Another node has marked the days before this. */
  heard(beforeMs: number): void {
    this.#heard++
    this.#expiredBeforeMs = Math.max(beforeMs, this.#expiredBeforeMs)
  }

  /** Marks the days before this moment, as far as that can be done now. */
  async expire(beforeMs: number, pause: Pause): Promise<void> {
    const { exec, lock } = this.#options
    if (beforeMs <= this.#expiredBeforeMs) return
    if (beforeMs % dayMs !== 0) throw bug(`days before ${beforeMs} are to expire, which begins no day`)
    if (!(await this.#isComplete(beforeMs))) return
    for (const day of await this.#daysBefore(beforeMs)) {
      if (day.startMs < this.#expiredBeforeMs) continue
      // The next day is another turn: an erase or a backup comes in between, and the rest has time until the next run.
      await this.#options.archive?.keep(day.startMs)
      let isMarked = false
      await lock.tryExclusive(async () => {
        if (!(await this.#areArchived([day.startMs]))) return
        await expireDay(exec, day, pause)
        this.#expiredBeforeMs = await readExpiredBeforeMs(exec)
        // A QuestDB that does not sync and was restarted just now has lost the mark.
        if (this.#expiredBeforeMs < day.startMs + dayMs) throw new Error(`the mark of ${dayText(day.startMs)} is lost`)
        isMarked = true
      })
      if (isMarked) await this.#tell()
      if (!isMarked || this.#needed?.losses !== this.#losses) return
    }
  }

  /** Those to be marked. */
  async #daysBefore(beforeMs: number): Promise<RawDay[]> {
    const { exec, marksEmptyDays = false } = this.#options
    const days = (await listRawDays(exec)).filter(({ startMs }) => startMs < beforeMs)
    const last = { startMs: beforeMs - dayMs, readings: 0 }
    return marksEmptyDays && days.at(-1)?.startMs !== last.startMs ? [...days, last] : days
  }

  /** Removes the raw readings of days that were marked a while ago; gives these days. */
  async remove(pause: Pause): Promise<RawDay[]> {
    const { exec, lock, monotonicMs, graceMs } = this.#options
    // The node that marked them may have ended before it told the others.
    if (this.#toldMs < this.#expiredBeforeMs) await this.#tell()
    if (monotonicMs() - this.#toldAtMs < graceMs) return []
    const readings = await this.#listExpired(expiringReadings)
    const measurements = await this.#listExpired(expiringMeasurements)
    if (readings.length === 0 && measurements.length === 0) return []
    const starts = new Set([...readings, ...measurements].map(({ startMs }) => startMs))
    for (const startMs of starts) await this.#options.archive?.keep(startMs)
    let isDone = false
    await lock.tryExclusive(async () => {
      if (!(await this.#areArchived(starts))) return
      await this.#ensureHours(readings, measurements, pause)
      // Values are read beside their readings, so those that a crash between the two leaves behind are seen by nobody.
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

  async #tell(): Promise<void> {
    const beforeMs = this.#expiredBeforeMs
    await this.#options.tellNodes?.(beforeMs)
    this.#toldMs = Math.max(beforeMs, this.#toldMs)
    this.#toldAtMs = this.#options.monotonicMs()
  }

  async #listExpired(table: ExpiringTable): Promise<RawDay[]> {
    return (await listRawDays(this.#options.exec, table)).filter(({ startMs }) => startMs < this.#expiredBeforeMs)
  }

  /** Keeps hours that QuestDB has lost, and those of values that were there when their day expired with a version before. */
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

  /** Whether all readings from before the moment are applied that were ever accepted. */
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
