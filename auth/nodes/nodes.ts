/** Keeps the memory of several nodes on one PostgreSQL consistent. */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { createMutex } from '../../store/limits/mutex.ts'
import type { Log } from '../../store/log.ts'
import { beginTransaction, complete, inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import type { ChangeFeed } from './change-feed.ts'
import { appendChanges, type Change, createFeedReader, FeedBroken, type FeedReader, readHead } from './feed-rows.ts'
import { createLeadership, idleMsMaxOf, Lease, requireLead } from './leadership.ts'
import { createNodeConnection } from './node-connection.ts'
import { countBehind, type Node, removeNode } from './node-rows.ts'
import { createOwnState, type NodeState, readNodeStates } from './node-states.ts'
import { ForwardStep, PostgresClock } from './postgres-clock.ts'
import { createRenewal } from './renewal.ts'
import { openSessionNotices, type SessionNotices, sessionChannel } from './session-notices.ts'

interface BarrierOptions {
  pool: Pick<pg.Pool, 'query'>
  /** Id of this node, which has applied its own changes. */
  id: string
  leaseMs: number
  /** Noted with each renewal of the lease. */
  step: Pick<ForwardStep, 'sizeMs'>
  failed: (error: unknown) => void
}

const pauseMsFirst = 5
const pauseMsMax = 50
const answerMsMax = 2_000
/** Smaller differences come from clock adjustments, not from a step. */
const stepSlackMs = 100

/**
 * Resolves when every other node has applied all earlier commits, or has no valid lease. If PostgreSQL is unavailable,
 * it resolves after the length of a lease: a node whose lease began later has read the change.
 */
export function createBarrier({ pool, id, leaseMs, step, failed }: BarrierOptions): () => Promise<void> {
  const query = (text: string, values: unknown[]) =>
    pool.query({ text, values, query_timeout: Math.min(answerMsMax, leaseMs) } as pg.QueryConfig)
  const database = { query } as unknown as Transaction

  return async () => {
    const endMs = performance.now() + leaseMs
    let seq: number | undefined
    let steppedMs = 0
    for (let pauseMs = pauseMsFirst; performance.now() < endMs; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
      try {
        const behind = await countBehind(database, id, seq, steppedMs)
        const sizeMs = step.sizeMs(behind.postgresMs)
        if (behind.count === 0 && sizeMs <= steppedMs + stepSlackMs) return
        seq = behind.seq
        if (sizeMs > steppedMs + stepSlackMs) steppedMs = sizeMs
      } catch (error) {
        failed(error)
      }
      await sleep(Math.min(pauseMs, Math.max(1, endMs - performance.now())))
    }
  }
}

export interface Nodes {
  feed: ChangeFeed
  /** Call it after all registries are loaded: from then on the node has a lease. Rejects with SettingsDiffer. */
  join(): Promise<void>
  /** Reason why requests are refused; undefined while the lease is valid. */
  fault(): string | undefined
  /**
   * True if this node runs the work that one node does for all. False at once in case of doubt, so callers check it
   * directly before each statement that only one node may run.
   */
  leads(): boolean
  /** Number of nodes that take requests, including this one, in memory as of the last renewal. */
  count(): number
  /** State of this node, in memory. */
  own(): NodeState
  /** Includes nodes that ended recently without leaving. Only this node while PostgreSQL does not answer. */
  states(): Promise<NodeState[]>
  /** Undefined if clients have no sessions. */
  sessions: SessionNotices | undefined
  /** Blocks a change of leader until the leader's transaction ends. Rejects after such a change. */
  requireLead(transaction: Transaction): Promise<void>
  /** Releases the lease and the lead. The leader's work must have ended before. */
  close(): Promise<void>
}

export interface NodesOptions extends Omit<Node, 'id'> {
  pool: pg.Pool
  /** Opens a separate connection without time limits. */
  connect: () => Promise<pg.Client>
  /** NODE_LEASE_SECONDS */
  leaseMs: number
  /** The same at all nodes. Without it, sessions of clients are not reported to other nodes. */
  sessionSecret?: string | undefined
  log: Pick<Log, 'info' | 'warn'>
  /** Called with the reason if this node cannot continue. */
  onFatal: (error: Error) => void
}

/** Resolves when the start position of the registries is known, which are opened afterwards. */
export async function openNodes(options: NodesOptions): Promise<Nodes> {
  const { pool, connect, leaseMs, sessionSecret, log, onFatal, ...described } = options
  const node: Node = { ...described, id: randomUUID() }
  const lease = new Lease(leaseMs)
  const clock = new PostgresClock()
  const step = new ForwardStep(leaseMs)
  const own = createOwnState({ node, lease, clock, step, log })
  let wake = () => {}
  const sessions = openSessionNotices({ pool, id: node.id, secret: sessionSecret, clock, others: own.others, log })
  const channels = sessions === undefined ? {} : { [sessionChannel]: sessions.received }
  const connection = createNodeConnection({ connect, answerMsMax: leaseMs, notified: () => wake(), channels })
  const reader = createFeedReader(await connection.use(readHead))
  const mutex = createMutex()
  const barrier = createBarrier({ pool, id: node.id, leaseMs, step, failed: barrierFailed(log) })
  const renewal = createRenewal({ node, own, lease, leaseMs, reader, connection, mutex, log, onFatal })
  wake = renewal.wake
  const leadership = createLeadership({ id: node.id, connect, lease, log })
  const ownState = () => own.read({ applied: reader.applied().seq, leads: leadership.leads() })

  async function catchUp(): Promise<void> {
    try {
      await mutex.run(() => connection.use(database => reader.catchUp(database)))
    } catch (error) {
      if (error instanceof FeedBroken) onFatal(error)
      throw error
    }
  }

  const feed = createSharedFeed({ lease, leaseMs, reader, catchUp, barrier })

  return {
    feed,
    async join() {
      await renewal.start()
      leadership.start()
    },
    fault: renewal.fault,
    leads: leadership.leads,
    count: () => own.others() + 1,
    own: ownState,
    states: () => readNodeStates(pool, leaseMs, node.advised).catch(() => [ownState()]),
    sessions,
    requireLead: transaction => requireLead(transaction, node.id),
    async close() {
      sessions?.close()
      await leadership.close()
      await renewal.close()
      lease.end()
      // A row that is not removed expires.
      await mutex.run(() => connection.use(database => removeNode(database, node.id))).catch(() => undefined)
      await connection.close()
    },
  }
}

function barrierFailed(log: Pick<Log, 'warn'>): (error: unknown) => void {
  return error => log.warn({ err: error }, 'cannot read from PostgreSQL which nodes have applied a change')
}

interface SharedFeedOptions {
  lease: Pick<Lease, 'isValid' | 'leftMs' | 'term'>
  leaseMs: number
  reader: Pick<FeedReader, 'onChange'>
  /** Applies all commits. */
  catchUp: () => Promise<void>
  /** Resolves when every other node has applied all commits, or has no lease. */
  barrier: () => Promise<void>
}

/** Change feed of a node among others. */
function createSharedFeed({ lease, leaseMs, reader, catchUp, barrier }: SharedFeedOptions): ChangeFeed {
  const noted = new WeakMap<Transaction, Change[]>()

  return {
    isCurrent: () => lease.isValid(),
    currentForMs: () => lease.leftMs(),
    term: () => lease.term(),
    note(transaction, kind, ids = []) {
      const changes = noted.get(transaction)
      if (changes === undefined) noted.set(transaction, [{ kind, ids }])
      else changes.push({ kind, ids })
    },
    async commit({ pool, begun, ...options }, work) {
      const workAndAppend = async (transaction: Transaction) => {
        const result = await work(transaction)
        const changes = noted.get(transaction) ?? []
        if (changes.length > 0) await appendChanges(transaction, changes, idleMsMaxOf(leaseMs))
        return result
      }
      return await (begun === undefined ? inTransaction(pool, options, workAndAppend) : complete(begun, workAndAppend))
    },
    async begin({ pool, ...options }) {
      const open = await beginTransaction(pool, options)
      try {
        // Bounds how long a frozen node keeps the lock.
        const text = "SELECT set_config('idle_in_transaction_session_timeout', $1, true)"
        await open.transaction.query(text, [String(leaseMs)])
        await catchUp()
        return open
      } catch (error) {
        open.abandon()
        throw error
      }
    },
    settle: barrier,
    onChange: reader.onChange,
  }
}
