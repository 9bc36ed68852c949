/**
 * Entry point of this folder: a node of a service that has several on one PostgreSQL. It applies what other nodes change of what
 * it holds in memory, and has a lease as long as it has applied all.
 */

import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { createMutex } from '../../store/limits/mutex.ts'
import type { Log } from '../../store/log.ts'
import { beginTransaction, complete, inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { createBarrier } from './barrier.ts'
import type { ChangeFeed } from './change-feed.ts'
import { createFeedReader, FeedBroken, type FeedReader } from './feed-reader.ts'
import { appendChanges, type Change, readHead } from './feed-rows.ts'
import { requireLead } from './leader-rows.ts'
import { createLeadership } from './leadership.ts'
import { idleMsMaxOf, Lease } from './lease.ts'
import { createNodeConnection } from './node-connection.ts'
import { type Node, removeNode } from './node-rows.ts'
import { type NodeState, readNodeStates } from './node-states.ts'
import { createOwnState } from './own-state.ts'
import { ForwardStep, PostgresClock } from './postgres-clock.ts'
import { createRenewal } from './renewal.ts'
import { openSessionNotices, type SessionNotices, sessionChannel } from './session-notices.ts'

export interface Nodes {
  feed: ChangeFeed
  /** Once all that is held in memory is loaded: from here on the node has a lease. Rejects with SettingsDiffer. */
  join(): Promise<void>
  /** Why nobody is let in; undefined while the lease is valid. */
  fault(): string | undefined
  /**
   * Whether this node does what one node does for all. False at once when that is doubtful, so it is asked directly before each
   * statement that must not be made by two.
   */
  leads(): boolean
  /** How many nodes take requests, with this one. From memory, as of the last renewal of its lease. */
  count(): number
  /** What this node knows of itself, from memory. */
  own(): NodeState
  /** Of all nodes, those that have just gone without a word too; of this one alone while PostgreSQL does not answer. */
  states(): Promise<NodeState[]>
  /** Where clients have sessions. */
  sessions: SessionNotices | undefined
  /** For a transaction that only the leader may make: until it ends no other node leads. Rejects where one does. */
  requireLead(transaction: Transaction): Promise<void>
  /** Gives up the lease, and what this node leads, of which nothing may be under way any more. */
  close(): Promise<void>
}

export interface NodesOptions extends Omit<Node, 'id'> {
  pool: pg.Pool
  /** A connection of its own, without time limits. */
  connect: () => Promise<pg.Client>
  /** NODE_LEASE_SECONDS */
  leaseMs: number
  /** The same at all nodes; without it no other node is told of sessions of clients. */
  sessionSecret?: string | undefined
  log: Pick<Log, 'info' | 'warn'>
  /** Told why this node cannot go on. */
  onFatal: (error: Error) => void
}

/** Resolves when it is known up to which change the registries that are opened afterwards will be right. */
export async function openNodes(options: NodesOptions): Promise<Nodes> {
  const { pool, connect, leaseMs, sessionSecret, log, onFatal, ...described } = options
  const node: Node = { ...described, id: randomUUID() }
  const lease = new Lease(leaseMs)
  const clock = new PostgresClock()
  const step = new ForwardStep(leaseMs)
  const own = createOwnState({ node, lease, clock, step, log })
  let wake = () => {}
  const sessions = openSessionNotices({ pool, id: node.id, secret: sessionSecret, clock, others: own.others, log })
  const channels = sessions === undefined ? {} : { [sessionChannel]: sessions.heard }
  const connection = createNodeConnection({ connect, answerMsMax: leaseMs, heard: () => wake(), channels })
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
      // What is not removed ends with its time.
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
  /** Applies all that is committed. */
  catchUp: () => Promise<void>
  /** Resolves when every other node has applied all that is committed, or has no lease. */
  barrier: () => Promise<void>
}

/** The change feed of a node among others. */
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
        // A node that is frozen meanwhile keeps the lock from the others for no longer.
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
