/**
 * The hourly view where several processes plan queries with it. The leader creates, refreshes and drops the view, and reports to
 * the others through which transaction it is valid. Before a drop it reports the view as invalid, and waits until all queries
 * planned before have ended.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { createQuestdbClient, type QuestdbClient } from './client/questdb-client.ts'
import { type HourlyView, type HourlyViewOptions, viewCheck, viewTiming } from './hourly-view.ts'
import { ViewWatch } from './hourly-view-watch.ts'

/** The leader's report. */
export interface ViewReport {
  /** Undefined while the view must not be used. */
  validThroughTxn: number | undefined
  /** Number of rebuilds of the view. */
  builds: number
}

export interface SharedView {
  /** True while this process may change the view. False at once when another one may. */
  leads(): boolean
  /** Returns the report of earlier leaders, who report nothing any more, or undefined. Leader only. */
  takeOver(): Promise<ViewReport | undefined>
  /** The last report. Invalid while this process may lack a later one. */
  report(): Readonly<ViewReport>
  /** Resolves when every process that plans queries has the report. Leader only. */
  publish(view: ViewReport): Promise<void>
  /** This build and earlier ones may contain readings that the table has lost; -1 without any. */
  suspectBuild(): number
  /** Raises that number for the present leader and later ones. */
  suspect(build: number): Promise<void>
}

export interface SharedHourlyViewOptions extends Omit<HourlyViewOptions, 'ready'> {
  shared: SharedView
}

/** State of the view in a process while it leads. */
interface Leading {
  watch: ViewWatch
  builds: number
  /** Undefined while unknown. */
  published: ViewReport | undefined
  check: () => Promise<void>
}

const closeWaitMs = 500

export function watchSharedHourlyView(options: SharedHourlyViewOptions): Omit<HourlyView, 'checked'> {
  const { address, isUp, timing = viewTiming, shared, log } = options
  const client = createQuestdbClient(address.http)
  const closing = new AbortController()
  let leading: Leading | undefined
  /** Highest suspect build that this process has seen. */
  let suspectBuild = -1
  let lastReason: string | undefined

  async function round(): Promise<void> {
    if (suspectBuild > shared.suspectBuild()) await shared.suspect(suspectBuild)
    if (!shared.leads()) {
      leading = undefined
      return
    }
    leading ??= await takeOver(options, client)
    // The previous leader's report expires, since its basis is unknown here.
    await publish(leading, shared)
    if (Math.max(suspectBuild, shared.suspectBuild()) >= leading.builds)
      leading.watch.markSuspect('it may contain rows that the table has lost')
    if (isUp()) await leading.check()
    else leading.watch.invalidate()
    await publish(leading, shared)
  }

  async function tryRound(): Promise<void> {
    try {
      await round()
      lastReason = undefined
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (reason !== lastReason) log.warn({ reason }, 'nodes cannot share the state of the hourly view, retrying')
      lastReason = reason
    }
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      await tryRound()
      await sleep(timing.checkEveryMs, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }

  const running = run()
  return {
    validThroughTxn() {
      const { validThroughTxn, builds } = shared.report()
      const isDoubtful =
        suspectBuild >= builds || (leading !== undefined && leading.watch.validThroughTxn === undefined)
      return isDoubtful ? undefined : validThroughTxn
    },
    markSuspect(reason) {
      suspectBuild = Math.max(suspectBuild, leading?.builds ?? shared.report().builds)
      leading?.watch.markSuspect(reason)
    },
    async close() {
      closing.abort()
      client.close()
      await Promise.race([running, sleep(closeWaitMs, undefined, { ref: false })])
    },
  }
}

async function takeOver(options: SharedHourlyViewOptions, client: QuestdbClient): Promise<Leading> {
  const { timing = viewTiming, shared, log } = options
  const watch = new ViewWatch({ ...timing, monotonicMs: () => performance.now() })
  const exec: QuestdbClient['exec'] = (sql, timeoutMs) => {
    if (!shared.leads()) throw new Error('another node maintains the hourly view')
    return client.exec(sql, timeoutMs)
  }
  const before = await shared.takeOver()
  const leading: Leading = {
    watch,
    builds: before?.builds ?? 0,
    // An earlier report may have allowed queries, even if a later one has denied them.
    published: before === undefined ? { validThroughTxn: undefined, builds: 0 } : undefined,
    check: viewCheck({ client: { exec }, watch, log, onRebuilt: () => leading.builds++ }),
  }
  return leading
}

/** Sends the report if it differs from the last one. */
async function publish(leading: Leading, shared: SharedView): Promise<void> {
  const { watch, builds, published } = leading
  const { validThroughTxn } = watch
  if (published?.validThroughTxn === validThroughTxn && published?.builds === builds) return
  // Unknown while the report is in flight, and after a failure.
  leading.published = undefined
  await shared.publish({ validThroughTxn, builds })
  leading.published = { validThroughTxn, builds }
  if (validThroughTxn === undefined) watch.usedUntilNow()
}
