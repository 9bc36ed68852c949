/**
 * Compares the replicas with the first one in use once a day: the row counts of each past day, and the sums of the last
 * two. If these differ, it compares the rows with values. A difference needs a person, as no process can find out which
 * replica is right.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import type { Questdb } from '../../store/questdb/questdb.ts'
import type { QuestdbReplica } from '../../store/questdb/questdb-replicas.ts'
import type { Exec } from '../../store/questdb/until-applied.ts'
import { measurementsTable, pointsTable, readingsTable } from '../../store/tables.ts'
import { openDaySums } from './day-sums.ts'

interface ComparedReplica extends QuestdbReplica<Pick<Questdb, 'address' | 'state'>> {
  exec: Exec
  isLost: () => boolean
  /** Position in each journal before which it shows all rows. */
  shown: () => readonly number[]
}

export interface CompareOptions {
  replicas: readonly ComparedReplica[]
  pool: pg.Pool
  /** True in the process that runs the work of one node for all. */
  leads: () => boolean
  /** Days before this have expired in a replica, epoch milliseconds. */
  expiredBeforeMs: () => number
  nowMs: () => number
  log: Pick<Log, 'error' | 'warn'>
  /** Interval of checking whether a comparison is due. */
  everyMs?: number
  /** Delay before a difference is checked again: rows may be on their way to one of the replicas. */
  pauseMs?: number
}

const dayMs = 86_400_000
const tables = [readingsTable, measurementsTable, pointsTable] as const
const summedDays = 2
const looks = 3
const differencesShownMax = 10

/** Day and table, such as `2026-11-27 readings`. */
type Difference = string

export function compareReplicas(options: CompareOptions): { close(): Promise<void> } {
  const { replicas, pool, leads, log, everyMs = 600_000, pauseMs = 60_000 } = options
  const closing = new AbortController()
  const { signal } = closing

  async function compareIfDue(): Promise<void> {
    const inUse = replicas.filter(replica => !replica.isLost() && replica.questdb.state().state === 'up')
    const [first, ...others] = inUse
    if (first === undefined) return
    for (const other of others) {
      const { rowCount } = await pool.query(dueSql, [other.number])
      if (rowCount === 0 || !(await isCaughtUp(first, other)) || signal.aborted || !leads()) continue
      await compare(first, other)
    }
  }

  /** Notes the differences. Without a result it is due again. */
  async function compare(first: ComparedReplica, other: ComparedReplica): Promise<void> {
    const differences = await lastingDifferences({ ...options, pauseMs }, first, other, signal)
    if (differences === undefined) return
    if (differences === 'unsettled') {
      await pool.query(unsettledSql, [other.number])
      return
    }
    const text = differences.length === 0 ? null : differenceText(first.number, differences)
    await pool.query(noteSql, [other.number, text])
    if (text !== null) log.error({ replica: other.number, reason: text }, 'replicas differ')
  }

  /** A lagging replica would differ by the rows that it lacks. */
  async function isCaughtUp(first: ComparedReplica, other: ComparedReplica): Promise<boolean> {
    const wanted = first.shown()
    await sleep(pauseMs, undefined, { signal, ref: false })
    return shows(other, wanted)
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        if (leads()) await compareIfDue()
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'replicas cannot be compared, retrying')
      }
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  const running = run()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}

const dueSql = `SELECT FROM replicas WHERE number = $1 AND lost IS NULL
  AND (compared_at IS NULL OR compared_at < now() - interval '1 day')`
const noteSql = 'UPDATE replicas SET compared_at = now(), differs = $2 WHERE number = $1'
/** A known difference stays. */
const unsettledSql = 'UPDATE replicas SET compared_at = now() WHERE number = $1'

function differenceText(first: number, differences: readonly Difference[]): string {
  const more = differences.length - differencesShownMax
  const shown = differences.slice(0, differencesShownMax).join(', ')
  return `it differs from replica ${first} on ${shown}${more > 0 ? ` and ${more} more` : ''}`
}

const shows = ({ shown }: ComparedReplica, wanted: readonly number[]) =>
  wanted.every((position, at) => (shown()[at] ?? 0) >= position)

/**
 * Returns the differences of days whose content is the same in each of several checks: a day that gets rows differs, as
 * one of the replicas gets them first. `unsettled` if only such days differ. Undefined if some differ, and one of the
 * replicas does not show in the end what the other one showed before.
 */
async function lastingDifferences(
  options: CompareOptions & { pauseMs: number },
  one: ComparedReplica,
  other: ComparedReplica,
  signal: AbortSignal,
): Promise<Difference[] | 'unsettled' | undefined> {
  const [shown, otherShown] = [one.shown(), other.shown()]
  let found = await differences(options, one, other, signal)
  if (found.size === 0) return []
  for (let look = 1; look < looks && found.size > 0; look++) {
    await sleep(options.pauseMs, undefined, { signal, ref: false })
    const again = await differences(options, one, other, signal)
    found = new Map([...found].filter(([difference, content]) => again.get(difference) === content))
  }
  if (found.size === 0) return 'unsettled'
  return shows(other, shown) && shows(one, otherShown) ? [...found.keys()].sort() : undefined
}

/** Each difference has the content of its day in both replicas. */
async function differences(
  { expiredBeforeMs, nowMs }: CompareOptions,
  one: ComparedReplica,
  other: ComparedReplica,
  signal: AbortSignal,
): Promise<Map<Difference, string>> {
  const todayMs = Math.floor(nowMs() / dayMs) * dayMs
  const sumsFromMs = todayMs - summedDays * dayMs
  const found = new Map<Difference, string>()
  for (const table of tables) {
    const [days, otherDays] = await both([one, other], replica => daysOf(replica, table, signal, sumsFromMs))
    for (const startMs of new Set([...days.keys(), ...otherDays.keys()])) {
      if (startMs < expiredBeforeMs() || startMs >= todayMs || days.get(startMs) === otherDays.get(startMs)) continue
      const contents = await both([one, other], replica => contentOf(replica, table, startMs, signal))
      const name = `${new Date(startMs).toISOString().slice(0, 10)} ${table}`
      if (contents[0] !== contents[1]) found.set(name, contents.join('; '))
    }
  }
  return found
}

/**
 * Returns a text about the rows with values of a day. An erasure leaves rows without values, which a replica that was made
 * later from the topics does not have.
 */
async function contentOf(
  { questdb }: ComparedReplica,
  table: (typeof tables)[number],
  fromMs: number,
  signal: AbortSignal,
): Promise<string> {
  const rows = { fromMs, toMs: fromMs + dayMs, isOfValues: true }
  return (await (await openDaySums(questdb.address.pg, table, signal, rows)).read()).join()
}

async function both<Result>(
  [one, other]: readonly [ComparedReplica, ComparedReplica],
  work: (replica: ComparedReplica) => Promise<Result>,
): Promise<[Result, Result]> {
  return await Promise.all([work(one), work(other)])
}

/** Returns a text for each day of a table, equal in equal replicas. Keys are days in epoch milliseconds. */
async function daysOf(
  { exec, questdb }: ComparedReplica,
  table: (typeof tables)[number],
  signal: AbortSignal,
  sumsFromMs: number,
): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  const counts = new Map<number, number>()
  for (const [name, rows] of await exec(`SELECT name, numRows FROM table_partitions('${table}')`)) {
    // A partition that late rows have split has a time after its day.
    const startMs = Date.parse(String(name).slice(0, 10))
    counts.set(startMs, (counts.get(startMs) ?? 0) + Number(rows))
  }
  for (const [startMs, count] of counts) found.set(startMs, String(count))
  const sums = await openDaySums(questdb.address.pg, table, signal, { fromMs: sumsFromMs })
  for (const [day, ...values] of await sums.read()) found.set(Date.parse(`${String(day).slice(0, 10)}Z`), values.join())
  return found
}
