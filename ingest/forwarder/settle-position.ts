/** Compares the position of a journal with QuestDB's, and records in QuestDB how the forwarder continues. */

import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { type CustomTable, type TableDescription, tableNames } from '../table.ts'
import { type Exec, type FoundPosition, putPosition, readPosition } from './applied-positions.ts'

export interface SettleOptions {
  database: Database
  exec: Exec
  /** Name of the journal in PostgreSQL. */
  journal: string
  /** Journals of further replicas name the first replica's journal, which shows whether the topic has all rows. */
  firstJournal?: string | undefined
  table: TableDescription
  /** The loss that ends at this time is accepted. */
  acceptedMs: number | undefined
  /** When it resolves, the forwarder records no position any more; QuestDB gets the position `from` afterwards. */
  beforeAgain: (from: number) => Promise<void> | void
  nowMs: () => number
}

interface SettledPlace extends Pick<JournalPlace, 'committed' | 'start'> {
  /** Time at which the committed position was written. For a topic it comes from PostgreSQL. */
  untilMs?: number
  /** End of the journal. */
  end: number
  /** Nothing of it was ever committed or removed, and nothing is sent yet. */
  isNew?: boolean
}

/**
 * `fits`: the forwarder continues. `again`: it goes back to `from`. `unfit`: it must send nothing. `issue`: why QuestDB must not
 * be read. Undefined where nothing is missing.
 */
export type Settled =
  | { kind: 'fits'; id: string; issue: string | undefined }
  | { kind: 'again'; id: string; from: number; issue: string | undefined }
  | { kind: 'unfit'; issue: string }

const filling = { kind: 'filling' } as const

/** Rejects with a QuestdbError or an error of PostgreSQL, after which it has to be called again. */
export async function settlePosition(options: SettleOptions, place: SettledPlace): Promise<Settled> {
  const { database, exec, journal, table, acceptedMs, nowMs } = options
  const known = await readKnownJournals(database)
  const own = known.get(journal)
  if (own === undefined) {
    const issue = copyIssue(known, options.firstJournal, place.start)
    return issue === undefined ? await adopt(options, place) : { kind: 'unfit', issue }
  }
  const { id, sinceMs, committedMs: untilMs } = own
  const key = { id, tables: tableNames(table) }
  const found = await readPosition(exec, key, idsOf(known))
  if (place.isNew === true && isOfAnother(found, place)) {
    await putPosition(exec, key, { position: place.committed, wholeFrom: 0, recordedMs: nowMs() })
    return { kind: 'fits', id, issue: undefined }
  }
  const verdict = judgePosition(found, { untilMs, ...place, sinceMs })
  const issue = verdictText(table.name, verdict)
  if (verdict.kind === 'whole' || verdict.kind === 'filling') return { kind: 'fits', id, issue }
  if (verdict.kind === 'lost' && !isAccepted(verdict, acceptedMs)) return { kind: 'unfit', issue: issue ?? '' }
  // The remaining records of the journal follow after an accepted loss.
  const from = verdict.kind === 'again' ? verdict.from : place.start
  await options.beforeAgain(from)
  await putPosition(exec, key, { position: from, wholeFrom: place.end, recordedMs: nowMs() })
  return { kind: 'again', id, from, issue: verdictText(table.name, verdict.kind === 'again' ? verdict : filling) }
}

/**
 * Reason why a further replica cannot begin with an empty QuestDB. Undefined where it can, and for the first replica.
 */
function copyIssue(
  known: ReadonlyMap<string, KnownJournal>,
  firstJournal: string | undefined,
  start: number,
): string | undefined {
  if (firstJournal === undefined) return undefined
  const first = known.get(firstJournal)
  if (first === undefined) return 'the first replica has no position yet'
  if (first.beganEmpty && start === 0) return undefined
  return 'it has no copy of another replica: run "barograph replicas add"'
}

/** QuestDB has a position after the end: it belongs to a journal whose folder is lost, since a new folder begins at 0. */
function isOfAnother({ applied }: FoundPosition, { end }: SettledPlace): boolean {
  return applied !== undefined && Math.max(applied.position, applied.wholeFrom) > end
}

/** Reason why QuestDB must not be read for this table. Changes nothing. */
export async function positionIssue(
  { database, exec, journal, firstJournal, table }: Omit<SettleOptions, 'acceptedMs' | 'beforeAgain' | 'nowMs'>,
  start: number,
): Promise<string | undefined> {
  const all = await readKnownJournals(database)
  const known = all.get(journal)
  if (known === undefined) return copyIssue(all, firstJournal, start) ?? (firstJournal && 'it has no position yet')
  const found = await readPosition(exec, { id: known.id, tables: tableNames(table) }, idsOf(all))
  const { committed, sinceMs, committedMs: untilMs } = known
  return verdictText(table.name, judgePosition(found, { committed, start, sinceMs, untilMs }))
}

/** Adopts a new journal, or one of an earlier version. */
async function adopt({ database, exec, journal, table, nowMs }: SettleOptions, place: SettledPlace): Promise<Settled> {
  const id = randomUUID()
  const recordedMs = nowMs()
  const position = { position: place.committed, wholeFrom: 0, recordedMs }
  await putPosition(exec, { id, tables: tableNames(table) }, position)
  const oldest = await oldestMs(exec, table)
  const beganEmpty = oldest === Number.POSITIVE_INFINITY
  await noteKnownJournal(database, journal, { id, sinceMs: Math.min(recordedMs, oldest), beganEmpty })
  return { kind: 'fits', id, issue: undefined }
}

async function oldestMs(exec: Exec, { name, timestamp }: Pick<CustomTable, 'name' | 'timestamp'>): Promise<number> {
  const [row] = await exec(`SELECT cast(min(${timestamp}) AS LONG) FROM ${name}`)
  return row?.[0] === undefined || row[0] === null ? Number.POSITIVE_INFINITY : Number(row[0]) / 1000
}

function idsOf(known: ReadonlyMap<string, { id: string }>): ReadonlySet<string> {
  return new Set([...known.values()].map(({ id }) => id))
}

/** Positions of the journal. */
export interface JournalPlace {
  /** All rows before it were applied once, and may have left the journal. */
  committed: number
  /** The journal has all records from here on. */
  start: number
  /** Times at which the first and the committed position were written. */
  sinceMs: number
  untilMs: number
}

/**
 * `filling`: lost rows are being sent again and are incomplete. `again`: rows from `from` on have to be sent again.
 * `lost`: they are not in the journal. Rows received in that time are missing. Nothing is missing where nothing was
 * committed.
 */
type Verdict =
  | { kind: 'whole' }
  | { kind: 'filling' }
  | { kind: 'again'; from: number; isMissing: boolean }
  | { kind: 'lost'; fromMs: number; toMs: number; isOfOthers: boolean }

/** Decides by QuestDB's position of a journal whether it has the applied rows, and how the forwarder continues. */
export function judgePosition({ applied, isOfOthers }: FoundPosition, place: JournalPlace): Verdict {
  const { committed, start, sinceMs, untilMs } = place
  if (applied !== undefined && applied.position >= committed) {
    return { kind: applied.position < applied.wholeFrom ? 'filling' : 'whole' }
  }
  const from = applied?.position ?? 0
  if (!isOfOthers && from >= start) return { kind: 'again', from, isMissing: from < committed }
  const fromMs = applied?.recordedMs ?? sinceMs
  return { kind: 'lost', fromMs, toMs: Math.max(fromMs, untilMs), isOfOthers }
}

/** Returns text for operators. Undefined where nothing is missing. `rows`: readings or points. */
export function verdictText(rows: string, verdict: Verdict): string | undefined {
  if (verdict.kind === 'whole' || (verdict.kind === 'again' && !verdict.isMissing)) return undefined
  if (verdict.kind !== 'lost') return `QuestDB has lost ${rows}, which are being sent again`
  const { fromMs, toMs, isOfOthers } = verdict
  const what = isOfOthers ? 'belongs to another service' : 'is empty or an older copy'
  const missing = `${rows} that were received from ${timeText(fromMs)} to ${timeText(toMs)}`
  const remedy = `put its files back, or set QUESTDB_ACCEPT_LOSS=${timeText(toMs)} to go on without them`
  return `QuestDB ${what}: it lacks ${missing}. Readings wait in the journal: ${remedy}`
}

/** `acceptedMs`: from the setting, in whole seconds. It does not accept later losses. */
export function isAccepted({ toMs }: Verdict & { kind: 'lost' }, acceptedMs: number | undefined): boolean {
  return acceptedMs !== undefined && acceptedMs >= Math.floor(toMs / 1000) * 1000
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

interface KnownJournal {
  readonly id: string
  /** Time of the oldest row when its first position was written. */
  readonly sinceMs: number
  /** Only topics have a committed offset. */
  readonly committed: number
  readonly committedMs: number
  /** QuestDB was empty when its first position was written. */
  readonly beganEmpty: boolean
}

export type Database = Pick<pg.Pool, 'query'>

const answerMsMax = 4000

/** Keys are names of journals. */
export async function readKnownJournals(database: Database): Promise<Map<string, KnownJournal>> {
  const { rows } = await database.query<KnownJournal & { journal: string }>({
    text: readSql,
    query_timeout: answerMsMax,
  } as pg.QueryConfig)
  return new Map(rows.map(({ journal, ...known }) => [journal, known]))
}

/** Rejects when another process has inserted it meanwhile. */
async function noteKnownJournal(
  database: Database,
  name: string,
  { id, sinceMs, beganEmpty }: Pick<KnownJournal, 'id' | 'sinceMs' | 'beganEmpty'>,
): Promise<void> {
  await database.query({
    text: 'INSERT INTO applied_journals (journal, id, since, began_empty) VALUES ($1, $2, to_timestamp($3), $4)',
    values: [name, id, sinceMs / 1000, beganEmpty],
    query_timeout: answerMsMax,
  } as pg.QueryConfig)
}

/** A pending rewind limits the committed offset: rows after it are sent again. */
const readSql = `SELECT journal, id, (extract(epoch FROM since) * 1000)::float8 AS "sinceMs",
    coalesce(CASE WHEN committed_offset > rewind_to THEN rewind_to ELSE committed_offset END, 0)::float8 AS committed,
    coalesce(extract(epoch FROM committed_at) * 1000, 0)::float8 AS "committedMs", began_empty AS "beganEmpty"
  FROM applied_journals LEFT JOIN replica_topics ON topic = journal`
