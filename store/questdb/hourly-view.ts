/** The hourly view, a materialized view of the readings in QuestDB: created, refreshed and monitored here. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { hourlyView, hourlyViewQuery, hourlyViewSql, readingsTable } from '../tables.ts'
import type { QuestdbAddress } from './client/questdb-address.ts'
import { createQuestdbClient, type QuestdbClient } from './client/questdb-client.ts'
import { isUnanswered } from './client/questdb-error.ts'
import { type ViewAction, type ViewState, ViewWatch } from './hourly-view-watch.ts'

export interface HourlyView {
  /** It was checked for the first time. */
  checked: Promise<void>
  /** The table's transaction up to which the view has all readings; undefined while it must not be used. */
  validThroughTxn(): number | undefined
  /** It may hold rows that the table no longer has: it is rebuilt. */
  markSuspect(reason: string): void
  close(): Promise<void>
}

export interface HourlyViewOptions {
  address: QuestdbAddress
  /** QuestDB answers, and has our tables: for the first time, and now. */
  ready: Promise<void>
  isUp: () => boolean
  timing?: typeof viewTiming
  log: Log
}

export const viewTiming = {
  /**
   * What is newer than the last refresh comes from the readings, which for one device is little. A refresh computes each hour
   * that got rows for all devices, some 3 million rows a second on two busy cores.
   */
  refreshEveryMs: 600_000,
  checkEveryMs: 5_000,
  /** Some waits for a thread, and some time limits of statements. */
  graceMs: 120_000,
}
const timeoutMs = 10_000
const closeWaitMs = 500
const checksMax = 6000
const checksPerRefresh = 50

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

/** Looks at the view and does what is to be done with it. Never rejects. */
export function viewCheck({ client, watch, onRebuilt = () => {}, log }: ViewCheckOptions): () => Promise<void> {
  let lastReason: string | undefined

  async function act(action: ViewAction): Promise<void> {
    if (action.kind === 'refresh') await client.exec(`REFRESH MATERIALIZED VIEW ${hourlyView} INCREMENTAL`, timeoutMs)
    if (action.kind !== 'rebuild') return
    const { reason } = action
    log.info({ reason }, 'rebuilding the hourly view')
    try {
      // A full refresh would do for most faults, but who reads meanwhile would find the view empty, and not gone.
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
      // That it does not answer at all is logged by the monitor.
      if (!isUnanswered(error) && reason !== lastReason) {
        log.warn({ reason }, 'no hourly view in QuestDB: hourly queries read the raw readings')
        lastReason = reason
      }
    }
  }
}

/**
 * Has the view refreshed out of turn, until it shows the table as of this transaction; at once where there is no view. It
 * computes the hours anew that got rows since the last refresh. `pause` is between two checks.
 */
export async function refreshHourlyView(
  exec: (sql: string) => ReturnType<QuestdbClient['exec']>,
  txn: number,
  pause: () => Promise<void>,
): Promise<void> {
  for (let checks = 0; checks < checksMax; checks++) {
    const seen = await readView({ exec })
    if (seen === undefined || (seen.refreshedTxn >= txn && seen.isApplied && seen.status === 'valid')) return
    // One that is dropped without a word is asked for again. Whoever watches the view sees to it that it is valid.
    const isAskedNow = seen.status === 'valid' && seen.refreshedTxn < txn && checks % checksPerRefresh === 0
    if (isAskedNow) await exec(`REFRESH MATERIALIZED VIEW ${hourlyView} INCREMENTAL`)
    await pause()
  }
  throw new Error(`the view ${hourlyView} is not refreshed`)
}

async function readView(client: Pick<QuestdbClient, 'exec'>): Promise<ViewState | undefined> {
  const columns = 'view_status, invalidation_reason, refresh_base_table_txn, view_sql'
  const views = `SELECT ${columns} FROM materialized_views() WHERE view_name = '${hourlyView}'`
  const [view] = await client.exec(views, timeoutMs)
  // Asked after the other: what is applied now was applied up to the transaction that it named.
  const tables = `SELECT name, sequencerTxn, writerTxn, suspended FROM wal_tables() WHERE name IN ('${hourlyView}', '${readingsTable}')`
  const states = new Map((await client.exec(tables, timeoutMs)).map(([name, ...state]) => [name, state]))
  const ofView = states.get(hourlyView)
  const ofTable = states.get(readingsTable)
  if (view === undefined || ofView === undefined || ofTable === undefined) return undefined
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
