/** Compares the position of a journal with QuestDB's, and records in QuestDB how the forwarder continues. */

import { randomUUID } from 'node:crypto'
import { type CustomTable, type TableDescription, tableNames } from '../table.ts'
import { type Exec, type FoundPosition, putPosition, readPosition } from './applied-positions.ts'
import { type Database, type KnownJournal, noteKnownJournal, readKnownJournals } from './known-journals.ts'
import { isAccepted, type JournalPlace, judgePosition, verdictText } from './position-verdict.ts'

export interface SettleOptions {
  database: Database
  exec: Exec
  /** Name of the journal in PostgreSQL. */
  journal: string
  /** For a journal of a further replica: the first replica's journal, which shows whether the topic has all rows. */
  firstJournal?: string | undefined
  table: TableDescription
  /** The loss that ends at this time is accepted. */
  acceptedMs: number | undefined
  /** When it resolves, the forwarder records no position any more; QuestDB gets the position `from` afterwards. */
  beforeAgain: (from: number) => Promise<void> | void
  nowMs: () => number
}

export interface SettledPlace extends Pick<JournalPlace, 'committed' | 'start'> {
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
  // After an accepted loss the remaining records of the journal follow.
  const from = verdict.kind === 'again' ? verdict.from : place.start
  await options.beforeAgain(from)
  await putPosition(exec, key, { position: from, wholeFrom: place.end, recordedMs: nowMs() })
  return { kind: 'again', id, from, issue: verdictText(table.name, verdict.kind === 'again' ? verdict : filling) }
}

/** Why a further replica cannot begin with an empty QuestDB. Undefined where it can, and for the first replica. */
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

/** Why QuestDB must not be read for this table. Changes nothing. */
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
