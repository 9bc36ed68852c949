/**
 * The hourly view where several processes plan queries with it. One of them leads: it creates, refreshes and drops the view, and tells the
 * others through which transaction it is valid. Before it drops the view it tells them that it is not, and waits until no
 * query is left that was planned before.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { createQuestdbClient, type QuestdbClient } from './client/questdb-client.ts'
import { type HourlyView, type HourlyViewOptions, viewCheck, viewTiming } from './hourly-view.ts'
import { ViewWatch } from './hourly-view-watch.ts'

/** What the leader tells. */
export interface ToldView {
  /** Undefined while the view must not be used. */
  validThroughTxn: number | undefined
  /** How often it was made anew. */
  builds: number
}

export interface SharedView {
  /** Whether this process is the one that changes the view. False at once when another one may be. */
  leads(): boolean
  /** What leaders before have told, of whom none tells more; undefined when none has. Only by the leader. */
  takeOver(): Promise<ToldView | undefined>
  /** What was told last; not valid while this process may lack what was told since. */
  told(): Readonly<ToldView>
  /** Resolves when every process that plans queries knows it. Only by the leader. */
  tell(view: ToldView): Promise<void>
  /** This build and those before may hold readings that the table no longer has; -1 for none. */
  suspectBuild(): number
  /** Raises that, for whoever leads now or later. */
  suspect(build: number): Promise<void>
}

export interface SharedHourlyViewOptions extends Omit<HourlyViewOptions, 'ready'> {
  shared: SharedView
}

/** What a process holds of the view as long as it leads. */
interface Leading {
  watch: ViewWatch
  builds: number
  /** Undefined while it is not known. */
  told: ToldView | undefined
  check: () => Promise<void>
}

const closeWaitMs = 500

export function watchSharedHourlyView(options: SharedHourlyViewOptions): Omit<HourlyView, 'checked'> {
  const { address, isUp, timing = viewTiming, shared, log } = options
  const client = createQuestdbClient(address.http)
  const closing = new AbortController()
  let leading: Leading | undefined
  /** Of which this process has heard. */
  let suspectBuild = -1
  let lastReason: string | undefined

  async function round(): Promise<void> {
    if (suspectBuild > shared.suspectBuild()) await shared.suspect(suspectBuild)
    if (!shared.leads()) {
      leading = undefined
      return
    }
    leading ??= await takeOver(options, client)
    // What the leader before has told ends, for this one does not know what that was founded on.
    await tell(leading, shared)
    if (Math.max(suspectBuild, shared.suspectBuild()) >= leading.builds)
      leading.watch.markSuspect('it may have too much')
    if (isUp()) await leading.check()
    else leading.watch.invalidate()
    await tell(leading, shared)
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
      const { validThroughTxn, builds } = shared.told()
      const isDoubtful =
        suspectBuild >= builds || (leading !== undefined && leading.watch.validThroughTxn === undefined)
      return isDoubtful ? undefined : validThroughTxn
    },
    markSuspect(reason) {
      suspectBuild = Math.max(suspectBuild, leading?.builds ?? shared.told().builds)
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
    if (!shared.leads()) throw new Error('another node sees to the hourly view')
    return client.exec(sql, timeoutMs)
  }
  const before = await shared.takeOver()
  const leading: Leading = {
    watch,
    builds: before?.builds ?? 0,
    // Where one has told something there may be queries that it has allowed, even if it has denied them since.
    told: before === undefined ? { validThroughTxn: undefined, builds: 0 } : undefined,
    check: viewCheck({ client: { exec }, watch, log, onRebuilt: () => leading.builds++ }),
  }
  return leading
}

/** Where it is another word than the last one. */
async function tell(leading: Leading, shared: SharedView): Promise<void> {
  const { watch, builds, told } = leading
  const { validThroughTxn } = watch
  if (told?.validThroughTxn === validThroughTxn && told?.builds === builds) return
  // Until it is told, and when it is not known whether it was.
  leading.told = undefined
  await shared.tell({ validThroughTxn, builds })
  leading.told = { validThroughTxn, builds }
  if (validThroughTxn === undefined) watch.usedUntilNow()
}
