/** The hours of the readings, which QuestDB keeps for us as a materialized view: made, refreshed and looked after here. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type ViewAction, type ViewSeen, ViewWatch } from './hourly-view-watch.ts'
import type { Log } from './log.ts'
import type { QuestdbAddress } from './questdb-address.ts'
import { createQuestdbClient, type QuestdbClient } from './questdb-client.ts'
import { hourlyView, hourlyViewQuery, hourlyViewSql } from './tables.ts'

export interface HourlyView {
  /** It was looked at for the first time. */
  looked: Promise<void>
  /** The table's transaction up to which the view has all readings; undefined while it must not be used. */
  trustedTxn(): number | undefined
  /** It may hold what the table has no longer: it is made anew. */
  distrust(reason: string): void
  close(): Promise<void>
}

export interface HourlyViewOptions {
  address: QuestdbAddress
  /** QuestDB answers, and has our tables: for the first time, and now. */
  ready: Promise<void>
  isUp: () => boolean
  refreshEveryMs?: number
  lookEveryMs?: number
  log: Log
}

/** What is newer than the last refresh comes from the readings, which for one device is little. */
const refreshEveryMsUsual = 600_000
const lookEveryMsUsual = 5000
const timeoutMs = 10_000
const closeWaitMs = 500

export function watchHourlyView(options: HourlyViewOptions): HourlyView {
  const { address, ready, isUp, refreshEveryMs = refreshEveryMsUsual, lookEveryMs = lookEveryMsUsual, log } = options
  const client = createQuestdbClient(address)
  const closing = new AbortController()
  const watch = new ViewWatch({ refreshEveryMs, monotonicMs: () => performance.now() })
  let trouble: string | undefined

  async function look(): Promise<void> {
    try {
      const seen = await readView(client)
      await act(client, watch.look(seen), reason => log.info({ reason }, 'the view of the hours is made anew'))
      if (watch.trustedTxn !== undefined && trouble !== undefined) log.info({}, 'the view of the hours is there')
      if (watch.trustedTxn !== undefined) trouble = undefined
    } catch (error) {
      watch.lose()
      const reason = error instanceof Error ? error.message : String(error)
      if (isUp() && reason !== trouble) {
        log.warn({ reason }, 'QuestDB keeps no hours for us: questions about hours are answered from the readings')
        trouble = reason
      }
    }
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      await sleep(lookEveryMs, undefined, { signal: closing.signal }).catch(() => undefined)
      if (isUp()) await look()
      else watch.lose()
    }
  }

  const looked = ready.then(look)
  const running = looked.then(run, () => undefined)
  return {
    looked,
    trustedTxn: () => watch.trustedTxn,
    distrust: reason => watch.distrust(reason),
    async close() {
      closing.abort()
      client.close()
      await Promise.race([running, sleep(closeWaitMs, undefined, { ref: false })])
      watch.lose()
    },
  }
}

async function readView(client: QuestdbClient): Promise<ViewSeen | undefined> {
  const columns = 'view_status, invalidation_reason, refresh_base_table_txn, base_table_txn, view_sql'
  const [view] = await client.exec(
    `SELECT ${columns} FROM materialized_views() WHERE view_name = '${hourlyView}'`,
    timeoutMs,
  )
  if (view === undefined) return undefined
  // Asked after the other: what is applied now was applied up to the transaction that it named.
  const state = `SELECT writerTxn = sequencerTxn, suspended FROM wal_tables() WHERE name = '${hourlyView}'`
  const [isApplied, isSuspended] = (await client.exec(state, timeoutMs))[0] ?? []
  const [status, reason, refreshedTxn, tableTxn, sql] = view
  return {
    status: String(status),
    reason: String(reason),
    refreshedTxn: Number(refreshedTxn),
    tableTxn: Number(tableTxn),
    isOurs: sql === hourlyViewQuery,
    isApplied: isApplied === true,
    isSuspended: isSuspended === true,
  }
}

async function act(client: QuestdbClient, action: ViewAction, onRebuild: (reason: string) => void): Promise<void> {
  if (action.kind === 'refresh') await client.exec(`REFRESH MATERIALIZED VIEW ${hourlyView} INCREMENTAL`, timeoutMs)
  if (action.kind !== 'rebuild') return
  onRebuild(action.reason)
  // A full refresh would do for most faults, but who reads meanwhile would find the view empty, and not gone.
  await client.exec(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`, timeoutMs)
  await client.exec(hourlyViewSql, timeoutMs)
}
