/** Renews the lease of a node whenever it has applied all commits and a third of the lease's length has passed. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Mutex } from '../../store/limits/mutex.ts'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { FeedBroken, type FeedReader, trimFeed } from './feed-rows.ts'
import { idleMsMaxOf, type Lease } from './leadership.ts'
import type { NodeConnection } from './node-connection.ts'
import { lockJoining, type Node, readLiveSettings, renewLease, trimNodes } from './node-rows.ts'
import type { OwnState } from './node-states.ts'
import { differentSettings, SettingsDiffer } from './settings-differ.ts'

export interface Renewal {
  /** Resolves with the first lease. Retries for a while if PostgreSQL is unavailable. */
  start(): Promise<void>
  /** Call it after a commit. */
  wake(): void
  /** Reason why there is no valid lease. */
  fault(): string | undefined
  close(): Promise<void>
}

export interface RenewalOptions {
  node: Node
  own: Pick<OwnState, 'row' | 'renewed'>
  lease: Lease
  leaseMs: number
  reader: FeedReader
  connection: NodeConnection
  /** Guards the connection. */
  mutex: Mutex
  log: Pick<Log, 'info' | 'warn'>
  onFatal: (error: Error) => void
}

const hourMs = 3_600_000
/** A node may be disconnected for this long and still continue from the feed. */
const feedKeptMs = 24 * hourMs
const trimEveryMs = hourMs
/** Time for PostgreSQL to restart after a crash, or for a busy machine to answer. */
const firstMsMax = 30_000
const firstRetryMs = 250

export function createRenewal(options: RenewalOptions): Renewal {
  const { node, own, lease, leaseMs, reader, connection, mutex, log, onFatal } = options
  const closing = new AbortController()
  let awake = Promise.withResolvers<void>()
  let reason: string | undefined
  let running: Promise<void> = Promise.resolve()
  let trimmedAtMs = performance.now()

  /**
   * Applies all changes and renews the lease, again if there were commits meanwhile. Call the result after the commit.
   */
  async function renew(database: Transaction): Promise<() => void> {
    for (;;) {
      await reader.catchUp(database)
      const begun = lease.begin()
      const startMs = performance.now()
      const renewed = await renewLease(database, own.row(), reader.applied(), leaseMs)
      if (renewed === undefined) continue
      own.renewed(startMs, renewed)
      return begun
    }
  }

  /** Joins again after a time without a lease, as nodes with other settings may have started since. */
  async function join(database: Transaction): Promise<() => void> {
    await reader.catchUp(database)
    await database.query('BEGIN', [])
    await lockJoining(database, idleMsMaxOf(leaseMs))
    const differ = differentSettings(node.settings, await readLiveSettings(database, node.id))
    if (differ.length > 0) throw new SettingsDiffer(differ)
    const renewed = await renew(database)
    await database.query('COMMIT', [])
    return renewed
  }

  async function round(): Promise<void> {
    const isJoined = lease.isValid()
    const renewed = await mutex.run(() => connection.use(isJoined ? renew : join))
    renewed()
    if (reason !== undefined) log.info({}, 'the lease of this node is renewed again')
    reason = undefined
    if (performance.now() - trimmedAtMs < trimEveryMs) return
    trimmedAtMs = performance.now()
    await mutex.run(() => connection.use(trim))
  }

  /** False if this node cannot continue. */
  async function tryRound(): Promise<boolean> {
    try {
      await round()
      return true
    } catch (error) {
      if (error instanceof FeedBroken || error instanceof SettingsDiffer) {
        onFatal(error)
        return false
      }
      if (reason === undefined) log.warn({ err: error }, 'the lease of this node cannot be renewed, retrying')
      reason = error instanceof Error ? error.message || error.name : String(error)
      // Pauses before the next attempt on an unavailable server.
      awake = Promise.withResolvers()
      return true
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      const pause = sleep(leaseMs / 3, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
      await Promise.race([awake.promise, pause])
      awake = Promise.withResolvers()
      if (closing.signal.aborted || !(await tryRound())) return
    }
  }

  return {
    async start() {
      await firstRound(round, log, closing.signal)
      running = run()
    },
    wake: () => awake.resolve(),
    fault: () =>
      lease.isValid() ? undefined : `the lease of this node has expired: ${reason ?? 'it is being renewed'}`,
    async close() {
      closing.abort()
      await running
    },
  }
}

/** Rejects with the last error, at once unless PostgreSQL is unavailable. */
async function firstRound(round: () => Promise<void>, log: Pick<Log, 'warn'>, signal: AbortSignal): Promise<void> {
  const endMs = performance.now() + firstMsMax
  for (let attempt = 1; ; attempt++) {
    try {
      return await round()
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > endMs) throw error
      if (attempt === 1) log.warn({ err: error }, 'this node has no lease yet, retrying')
      await sleep(firstRetryMs, undefined, { signal })
    }
  }
}

async function trim(database: Transaction): Promise<void> {
  await trimFeed(database, feedKeptMs)
  await trimNodes(database, feedKeptMs)
}
