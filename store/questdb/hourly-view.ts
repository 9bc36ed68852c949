/** The hourly view, a materialized view of the readings in QuestDB: created, refreshed and monitored here. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { hourlyView, hourlyViewQuery, hourlyViewSql, readingsTable } from '../tables.ts'
import type { QuestdbAddress } from './client/questdb-address.ts'
import { createQuestdbClient, type QuestdbClient, type SqlRow } from './client/questdb-client.ts'
import { isUnanswered } from './client/questdb-error.ts'
import { type ViewAction, type ViewState, ViewWatch } from './hourly-view-watch.ts'

export interface HourlyView {
  /** Resolves after the first check. */
  checked: Promise<void>
  /** Transaction of the table through which the view has all readings. Undefined while it must not be used. */
  validThroughTxn(): number | undefined
  /** The view may contain rows that the table has lost, so it is rebuilt. */
  markSuspect(reason: string): void
  close(): Promise<void>
}

export interface HourlyViewOptions {
  address: QuestdbAddress
  /** Resolves when QuestDB first answers with our tables. `isUp` reports its present state. */
  ready: Promise<void>
  isUp: () => boolean
  timing?: typeof viewTiming
  log: Log
}

export const viewTiming = {
  /**
   * Rows newer than the last refresh come from the readings, which are few for one device. A refresh recomputes each hour with
   * new rows for all devices, some 3 million rows a second on two busy cores.
   */
  refreshEveryMs: 600_000,
  checkEveryMs: 5_000,
  /** Covers some waits for a thread and some statement time limits. */
  graceMs: 120_000,
}
const timeoutMs = 10_000
const closeWaitMs = 500
const checksMax = 6000
const checksPerRefresh = 50
const readsMax = 5

export function watchHourlyView(options: HourlyViewOptions): HourlyView {
  const { address, ready, isUp, timing = viewTiming, log } = options
  const client = createQuestdbClient(address.http)
  const closing = new AbortController()
  const watch = new ViewWatch({ ...timing, monotonicMs: () => performance.now() })
  const check = viewCheck({ client, watch, log })

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      await sleep(timing.checkEveryMs, undefined, { signal: closing.signal }).catch(() => undefined)
      if (isUp()) await check()
      else watch.invalidate()
    }
  }

  const checked = ready.then(check)
  const running = checked.then(run, () => undefined)
  return {
    checked,
    validThroughTxn: () => watch.validThroughTxn,
    markSuspect: reason => watch.markSuspect(reason),
    async close() {
      closing.abort()
      client.close()
      await Promise.race([running, sleep(closeWaitMs, undefined, { ref: false })])
      watch.invalidate()
    },
  }
}

interface ViewCheckOptions {
  client: Pick<QuestdbClient, 'exec'>
  watch: ViewWatch
  onRebuilt?: () => void
  log: Log
}

/** Checks the view and does the required maintenance. Never rejects. */
export function viewCheck({ client, watch, onRebuilt = () => {}, log }: ViewCheckOptions): () => Promise<void> {
  let lastReason: string | undefined

  async function act(action: ViewAction): Promise<void> {
    if (action.kind === 'refresh') await client.exec(`REFRESH MATERIALIZED VIEW ${hourlyView} INCREMENTAL`, timeoutMs)
    if (action.kind !== 'rebuild') return
    const { reason } = action
    log.info({ reason }, 'rebuilding the hourly view')
    try {
      // A full refresh would fix most faults, but concurrent readers would find the view empty instead of missing.
      await client.exec(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`, timeoutMs)
      await client.exec(hourlyViewSql, timeoutMs)
    } catch (error) {
      watch.markSuspect(reason)
      throw error
    }
    onRebuilt()
  }

  return async () => {
    try {
      await act(watch.check(await readView(client)))
      if (watch.validThroughTxn !== undefined && lastReason !== undefined) log.info({}, 'hourly view is valid')
      if (watch.validThroughTxn !== undefined) lastReason = undefined
    } catch (error) {
      watch.invalidate()
      const reason = error instanceof Error ? error.message : String(error)
      // The monitor logs an outage.
      if (!isUnanswered(error) && reason !== lastReason) {
        log.warn({ reason }, 'no hourly view in QuestDB: hourly queries read the raw readings')
        lastReason = reason
      }
    }
  }
}

/**
 * Refreshes the view out of turn, until it includes this transaction of the table. Resolves at once without a view. It recomputes
 * the hours with new rows since the last refresh. `pause` waits between two checks.
 */
export async function refreshHourlyView(
  exec: (sql: string) => ReturnType<QuestdbClient['exec']>,
  txn: number,
  pause: () => Promise<void>,
): Promise<void> {
  for (let checks = 0; checks < checksMax; checks++) {
    const seen = await readView({ exec })
    if (seen === undefined || (seen.refreshedTxn >= txn && seen.isApplied && seen.status === 'valid')) return
    // A silently dropped refresh is requested again. The view's watch keeps it valid.
    const isAskedNow = seen.status === 'valid' && seen.refreshedTxn < txn && checks % checksPerRefresh === 0
    if (isAskedNow) await exec(`REFRESH MATERIALIZED VIEW ${hourlyView} INCREMENTAL`)
    await pause()
  }
  throw new Error(`the view ${hourlyView} is not refreshed`)
}

/** Undefined without a view. */
async function readView(client: Pick<QuestdbClient, 'exec'>): Promise<ViewState | undefined> {
  const columns = 'view_status, invalidation_reason, refresh_base_table_txn, view_sql'
  const views = `SELECT ${columns} FROM materialized_views() WHERE view_name = '${hourlyView}'`
  const tables = `SELECT name, sequencerTxn, writerTxn, suspended FROM wal_tables() WHERE name IN ('${hourlyView}', '${readingsTable}')`
  for (let reads = 0; reads < readsMax; reads++) {
    const [view] = await client.exec(views, timeoutMs)
    // Queried after the view's state: rows applied now were applied up to the transaction that it named.
    const states = new Map((await client.exec(tables, timeoutMs)).map(([name, ...state]) => [name, state]))
    const ofView = states.get(hourlyView)
    const ofTable = states.get(readingsTable)
    if (ofView === undefined || ofTable === undefined) return undefined
    // QuestDB leaves out a view whose state it is just writing.
    if (view !== undefined) return viewState(view, ofView, ofTable)
  }
  throw new Error(`QuestDB has a table ${hourlyView}, and lists no state of it as a view`)
}

function viewState(view: SqlRow, ofView: SqlRow, ofTable: SqlRow): ViewState {
  const [status, reason, refreshedTxn, sql] = view
  return {
    status: String(status),
    reason: String(reason),
    refreshedTxn: Number(refreshedTxn),
    sequencedTxn: Number(ofTable[0]),
    appliedTxn: Number(ofTable[1]),
    isOurs: sql === hourlyViewQuery,
    isApplied: ofView[0] === ofView[1],
    isSuspended: ofView[2] === true,
  }
}
