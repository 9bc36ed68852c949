/**
 * Notifies other nodes of new client sessions by NOTIFY, outside the feed: of two sessions of one name the later one
 * stays, on any nodes. Notifications during a disconnection are lost.
 */

import { createHmac, hkdfSync } from 'node:crypto'
import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import type { PostgresClock } from './postgres-clock.ts'

export interface SessionNotices {
  /** Name of a session between nodes, which does not reveal the client. */
  nameOf(text: string): string
  /** Call it when a session has begun here. */
  begun(name: string): void
  /** Calls the listener with each session of another node, and how many milliseconds ago it began. */
  onBegun(listener: SessionListener): void
}

type SessionListener = (name: string, agoMs: number) => void

export interface SessionNoticesOptions {
  pool: Pick<pg.Pool, 'query'>
  id: string
  /** The same at all nodes; without it, no node sends notifications. */
  secret: string | undefined
  clock: PostgresClock
  /** Number of nodes to notify. */
  others: () => number
  log: Pick<Log, 'warn'>
  pauseMs?: number
}

export interface SessionNoticesOfNode extends SessionNotices {
  /** Takes a payload of `sessionChannel`. */
  received(payload: string): void
  close(): void
}

export const sessionChannel = 'barograph_session'

/**
 * A NOTIFY holds a lock of all databases of the server until its commit, so all nodes together make ten commits a
 * second: at most 20,000 sessions a second. 5,000 sessions in 5 s to three nodes take 50 ms of PostgreSQL's processor
 * time, and 560 ms with a statement for each.
 */
const pauseMsOfAll = 100
const sessionsPerStatement = 2_000
/** PostgreSQL accepts less than 8,000 bytes. A session has 35 at most. */
const sessionsPerPayload = 200
const waitingMax = 20_000
const answerMsMax = 5_000
const nameBytes = 16

export function openSessionNotices(options: SessionNoticesOptions): SessionNoticesOfNode | undefined {
  const { pool, id, secret, clock, others, log, pauseMs = pauseMsOfAll } = options
  if (secret === undefined) return undefined
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'barograph sessions of nodes', 32))
  /** Start times by name. */
  const waiting = new Map<string, number>()
  let listener: SessionListener = () => undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let isFailing = false

  async function send(): Promise<void> {
    const payloads = payloadsOf(id, clock.nowMs() ?? 0, takeSome(waiting))
    try {
      await pool.query({
        text: 'SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload',
        values: [sessionChannel, payloads],
        query_timeout: answerMsMax,
      } as pg.QueryConfig)
      isFailing = false
    } catch (error) {
      fail({ err: error })
    }
  }

  /** Logs one line for a time without an answer. */
  function fail(about: object): void {
    if (!isFailing) log.warn(about, 'cannot report new sessions to other nodes')
    isFailing = true
  }

  function schedule(): void {
    timer ??= setTimeout(async () => {
      await send()
      timer = undefined
      if (waiting.size > 0 && !isClosed) schedule()
    }, pauseMs).unref()
  }

  return {
    nameOf: text => createHmac('sha256', key).update(text).digest().subarray(0, nameBytes).toString('base64url'),
    begun(name) {
      if (others() === 0 || isClosed) return
      if (waiting.size >= waitingMax) return fail({ waiting: waiting.size })
      waiting.set(name, performance.now())
      schedule()
    },
    onBegun(added) {
      listener = added
    },
    received(payload) {
      const [sender, sentText, ...sessions] = payload.split('\n')
      const nowMs = clock.nowMs()
      if (sender === id || nowMs === undefined) return
      for (const session of sessions) {
        const [name = '', ageText] = session.split(' ')
        const agoMs = nowMs - Number(sentText) + Number(ageText)
        if (Number.isFinite(agoMs)) listener(name, agoMs)
      }
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** Takes the longest waiting ones. */
function takeSome(waiting: Map<string, number>): string[] {
  const taken: string[] = []
  const nowMs = performance.now()
  for (const [name, beganMs] of waiting) {
    if (taken.length === sessionsPerStatement) break
    taken.push(`${name} ${Math.round(nowMs - beganMs)}`)
    waiting.delete(name)
  }
  return taken
}

/** Sender, PostgreSQL's time, and a line for each session: its name, and how long ago it began. */
function payloadsOf(id: string, sentMs: number, sessions: readonly string[]): string[] {
  const payloads: string[] = []
  for (let at = 0; at < sessions.length; at += sessionsPerPayload) {
    payloads.push([id, sentMs, ...sessions.slice(at, at + sessionsPerPayload)].join('\n'))
  }
  return payloads
}
