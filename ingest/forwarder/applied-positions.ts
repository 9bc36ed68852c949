/**
 * The applied position of a journal, stored in QuestDB itself as a row beside the rows. It is written before the checkpoint, the
 * committed offset or a removed segment implies it. So a QuestDB with a lower position has lost rows.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { SqlRow } from '../../store/questdb/client/questdb-client.ts'
import { QuestdbError } from '../../store/questdb/client/questdb-error.ts'
import { appliedPositionsTable } from '../../store/tables.ts'
import type { Timing } from '../timing.ts'
import { resumeTable } from './table-state.ts'

export type Exec = (sql: string) => Promise<readonly SqlRow[]>

/** A journal as QuestDB identifies it. */
interface JournalKey {
  /** A UUID. */
  readonly id: string
  /** Tables of its rows: one or two. */
  readonly tables: readonly string[]
}

interface AppliedPosition {
  readonly position: number
  /** Rows before this one are missing until `position` reaches it, as they are sent again. */
  readonly wholeFrom: number
  readonly recordedMs: number
}

export interface FoundPosition {
  /** The last position whose transactions the tables contain. Undefined without one. */
  applied: AppliedPosition | undefined
  /** Only journals of other services have positions there. */
  isOfOthers: boolean
}

const hourUs = 3_600_000_000
/** One service has few journals. */
const journalsMax = 1000
/** Run where QuestDB has no position of the journal. */
export const journalsSql = `SELECT DISTINCT journal FROM ${appliedPositionsTable} LIMIT ${journalsMax}`
const applyLooks = 100
const applyLookMs = 20

/** `ownIds`: ids of all journals of this service. Rejects with a QuestdbError, like the other functions. */
export async function readPosition(
  exec: Exec,
  { id, tables }: JournalKey,
  ownIds: ReadonlySet<string>,
): Promise<FoundPosition> {
  const columns = 'position, whole_from, cast(recorded_at AS LONG), rows_txn, further_txn'
  const lastOf = async (condition: string) => {
    const [row] = await exec(`SELECT ${columns} FROM ${appliedPositionsTable} WHERE ${condition} LIMIT -1`)
    return row?.map(Number) as [number, number, number, number, number] | undefined
  }
  await appliedStates(exec, tables)
  const last = await lastOf(`journal = '${id}'`)
  // Read after the row: the forwarder may replace the row at any time, with later transactions.
  const [rowsTxn, customTxn] = await appliedStates(exec, tables)
  const isThere = last !== undefined && last[3] <= rowsTxn && last[4] <= customTxn
  const found = isThere
    ? last
    : await lastOf(`journal = '${id}' AND rows_txn <= ${rowsTxn} AND further_txn <= ${customTxn}`)
  if (found !== undefined) {
    const [position, wholeFrom, recordedUs] = found
    return { applied: { position, wholeFrom, recordedMs: recordedUs / 1000 }, isOfOthers: false }
  }
  const journals = await exec(journalsSql)
  const isOfOthers = journals.length > 0 && !journals.some(([journal]) => ownIds.has(String(journal)))
  return { applied: undefined, isOfOthers }
}

/** Sequenced transactions of the tables, once the positions are applied. */
async function appliedStates(exec: Exec, tables: readonly string[]): Promise<readonly [number, number]> {
  for (let look = 0; look < applyLooks; look++) {
    const states = await readStates(exec, tables)
    if (states !== undefined) return states
    await sleep(applyLookMs)
  }
  throw new QuestdbError('NO_ANSWER', `QuestDB does not apply the table ${appliedPositionsTable}`)
}

async function readStates(exec: Exec, tables: readonly string[]): Promise<readonly [number, number] | undefined> {
  const names = [appliedPositionsTable, ...tables].map(name => `'${name}'`).join(', ')
  const rows = await exec(`SELECT name, sequencerTxn, writerTxn, suspended FROM wal_tables() WHERE name IN (${names})`)
  const own = rows.find(([name]) => name === appliedPositionsTable)
  if (own === undefined) throw new QuestdbError('TABLE_MISSING', `QuestDB has no table ${appliedPositionsTable}`)
  if (own[3] === true) await resumeTable({ query: exec }, appliedPositionsTable)
  if (Number(own[2]) < Number(own[1])) return undefined
  const [rowsTxn = 0, customTxn = 0] = tables.map(table => Number(rows.find(([name]) => name === table)?.[1] ?? 0))
  return [rowsTxn, customTxn]
}

/** Overwrites any position of the journal in QuestDB. Resolves when it is applied. */
export async function putPosition(
  exec: Exec,
  { id, tables }: JournalKey,
  { position, wholeFrom, recordedMs }: AppliedPosition,
): Promise<void> {
  const [rowsTxn, customTxn] = await appliedStates(exec, tables)
  const nowUs = Math.round(recordedMs * 1000)
  const last = `SELECT cast(ts AS LONG) FROM ${appliedPositionsTable} WHERE journal = '${id}' LIMIT -1`
  const lastUs = Number((await exec(last))[0]?.[0] ?? 0)
  const ts = Math.max(hourOf(nowUs), lastUs)
  const values = [timeSql(ts), `'${id}'`, position, wholeFrom, timeSql(nowUs), rowsTxn, customTxn]
  await exec(`INSERT INTO ${appliedPositionsTable} VALUES (${values.join(', ')})`)
  await appliedStates(exec, tables)
}

/** Requires an existing position in QuestDB: one that lost it would otherwise confirm rows that it lacks. */
export async function advancePosition(
  exec: Exec,
  id: string,
  position: number,
  txns: readonly number[],
  nowMs: number,
): Promise<void> {
  const nowUs = Math.round(nowMs * 1000)
  const hour = timeSql(hourOf(nowUs))
  const [rowsTxn = 0, customTxn = 0] = txns
  // The last hour stays the last after a clock step backwards.
  const ts = `CASE WHEN ts > ${hour} THEN ts ELSE ${hour} END`
  const values = [ts, 'journal', position, 'whole_from', timeSql(nowUs), rowsTxn, customTxn]
  const from = `FROM ${appliedPositionsTable} WHERE journal = '${id}' LIMIT -1`
  await exec(`INSERT INTO ${appliedPositionsTable} SELECT ${values.join(', ')} ${from}`)
}

/** The last visible position. Undefined without one. */
export async function shownPosition(exec: Exec, id: string): Promise<number | undefined> {
  const [row] = await exec(`SELECT position FROM ${appliedPositionsTable} WHERE journal = '${id}' LIMIT -1`)
  return row === undefined ? undefined : Number(row[0])
}

function hourOf(us: number): number {
  return us - (us % hourUs)
}

function timeSql(us: number): string {
  return `cast(${us} AS TIMESTAMP)`
}

export interface PositionRecorderOptions {
  /** Id of the journal in QuestDB. */
  id: string
  exec: Exec
  /** QuestDB's number for a position of the segments. Undefined while unknown. */
  placeOf: (position: number) => number | undefined
  /** Start position of the forwarder. */
  from: number
  /** QuestDB's number up to which everything is applied. Undefined while unknown. */
  place: number | undefined
  nowMs: () => number
  timing: Pick<Timing, 'monotonicMs' | 'after'>
}

interface Recorded {
  position: number
  place: number | undefined
}

const recordEveryMs = 1000
/** A position that QuestDB does not show by then is lost. */
const showMsMax = 10_000
const lastLooks = 15
const lastLookMs = 30

/**
 * Writes the applied position to QuestDB about once a second. Only a position that QuestDB shows is committed and allows removal.
 */
export class PositionRecorder {
  readonly #options: PositionRecorderOptions
  #recorded: Recorded
  #written: Recorded | undefined
  #writtenAtMs = Number.NEGATIVE_INFINITY

  constructor(options: PositionRecorderOptions) {
    this.#options = options
    this.#recorded = { position: options.from, place: options.place }
  }

  /** Everything before this position is applied, as confirmed by QuestDB. */
  get position(): number {
    return this.#recorded.position
  }

  /** QuestDB's number for it. */
  get place(): number | undefined {
    return this.#recorded.place
  }

  /** Rows from this position on are sent again. */
  rewind(position: number): void {
    const { placeOf } = this.#options
    const place = Math.min(
      this.#recorded.place ?? Number.POSITIVE_INFINITY,
      placeOf(position) ?? Number.POSITIVE_INFINITY,
    )
    this.#recorded = {
      position: Math.min(this.#recorded.position, position),
      place: Number.isFinite(place) ? place : undefined,
    }
    this.#written = undefined
  }

  /**
   * Records that everything before the position is in the tables as of these transactions. Rejects when QuestDB does not answer.
   */
  async record(position: number, txns: readonly number[]): Promise<void> {
    const sinceMs = this.#options.timing.monotonicMs() - this.#writtenAtMs
    if (sinceMs >= (this.#written === undefined ? recordEveryMs : showMsMax)) await this.#write(position, txns)
    await this.#look()
  }

  /** Records the final position, with a short time limit: without an answer more rows are sent again after the next start. */
  async recordLast(position: number, txns: readonly number[]): Promise<void> {
    const { timing } = this.#options
    try {
      await this.#write(position, txns)
      for (let look = 0; look < lastLooks && this.#written !== undefined; look++) {
        await new Promise<void>(resolve => timing.after(lastLookMs, resolve))
        await this.#look()
      }
    } catch {
      // The poller reports that QuestDB does not answer.
    }
  }

  async #write(position: number, txns: readonly number[]): Promise<void> {
    const { id, exec, placeOf, nowMs, timing } = this.#options
    const place = placeOf(position)
    // The number for a position in a spool may decrease when more is fetched.
    if (place === undefined || place <= (this.#recorded.place ?? -1)) return
    this.#writtenAtMs = timing.monotonicMs()
    this.#written = { position, place }
    await advancePosition(exec, id, place, txns, nowMs())
  }

  async #look(): Promise<void> {
    const { id, exec } = this.#options
    const written = this.#written
    if (written === undefined || (await shownPosition(exec, id)) !== written.place) return
    // A rewind may have intervened.
    if (this.#written !== written) return
    this.#recorded = written
    this.#written = undefined
  }
}
