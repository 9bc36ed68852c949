/**
 * Reads the states that forwarders publish in PostgreSQL: each second, and at once after a notification. A notification may be
 * lost, so the poll alone suffices. The connection is separate because of the notifications, and is replaced when it breaks.
 * While PostgreSQL is unavailable the last known states stay, and their age grows.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../../../store/log.ts'
import { type PublishedState, publishedChannel } from './forward-status.ts'

export interface ReplicaStateReaderOptions<State extends PublishedState> {
  /** A new connection without time limits. */
  readonly connect: () => Promise<pg.Client>
  /** Reads the states of all topics. The query has a time limit. */
  readonly read: (client: pg.Client) => Promise<ReadonlyMap<string, State>>
  readonly log: Pick<Log, 'info' | 'warn'>
  /** Called with a listener's exception, after which nothing is read any more. */
  readonly onFatal: (error: Error) => void
  readonly monotonicMs?: () => number
  readonly pollMs?: number
}

export interface ReplicaStateReader<State extends PublishedState> {
  /** Calls the listener with the state of this key, and after each change. */
  onState(key: string, listener: (state: State) => void): void
  /** Age of the known states; Infinity before the first answer. */
  ageMs(): number
  /** Reason why they cannot be read at present. */
  issue(): string | undefined
  close(): Promise<void>
}

const pollMsUsual = 1000
const retryMs = 500
/** Minimum pause between two reads, whatever the number of notifications. */
const gapMs = 50
const answerMsMax = 2000
const endMsMax = 500

export function createReplicaStateReader<State extends PublishedState>(
  options: ReplicaStateReaderOptions<State>,
): ReplicaStateReader<State> {
  const { connect, read, log, onFatal, monotonicMs = () => performance.now(), pollMs = pollMsUsual } = options
  const bell = createBell()
  const states = new Map<string, State>()
  const listeners: { readonly key: string; readonly call: (state: State) => void }[] = []
  let client: pg.Client | undefined
  let askedMs = Number.NEGATIVE_INFINITY
  let issue: string | undefined
  let isClosed = false

  async function run(): Promise<void> {
    while (!isClosed) {
      bell.reset()
      const atMs = monotonicMs()
      const found = await tryRead()
      if (found !== undefined && !isClosed) {
        askedMs = atMs
        for (const [key, state] of found) take(key, state)
      }
      await sleep(gapMs, undefined, { ref: false })
      await bell.wait(found === undefined ? Math.min(pollMs, retryMs) : pollMs)
    }
  }

  async function tryRead(): Promise<ReadonlyMap<string, State> | undefined> {
    try {
      client ??= await listen()
      const found = await read(client)
      note(undefined)
      return found
    } catch (error) {
      void client?.end().catch(() => undefined)
      client = undefined
      note(error instanceof Error ? error.message || error.name : String(error))
      return undefined
    }
  }

  async function listen(): Promise<pg.Client> {
    const made = await connect()
    try {
      made.on('notification', bell.ring)
      made.once('end', bell.ring)
      await made.query({ text: `LISTEN ${publishedChannel}`, query_timeout: answerMsMax } as pg.QueryConfig)
      return made
    } catch (error) {
      void made.end().catch(() => undefined)
      throw error
    }
  }

  function take(key: string, state: State): void {
    if (JSON.stringify(state) === JSON.stringify(states.get(key))) return
    states.set(key, state)
    for (const listener of listeners) if (listener.key === key) listener.call(state)
  }

  function note(reason: string | undefined): void {
    if (isClosed) return
    if (reason !== undefined && issue === undefined)
      log.warn({ reason }, 'cannot read the state of forwarders in PostgreSQL')
    if (reason === undefined && issue !== undefined) log.info({}, 'reading the state of forwarders again')
    issue = reason
  }

  const running = run().catch((error: unknown) => onFatal(error as Error))
  return {
    onState(key, call) {
      listeners.push({ key, call })
      const state = states.get(key)
      if (state !== undefined) call(state)
    },
    ageMs: () => monotonicMs() - askedMs,
    issue: () => issue,
    async close() {
      isClosed = true
      bell.ring()
      const ended = Promise.all([client?.end().catch(() => undefined), running])
      await Promise.race([ended, sleep(endMsMax, undefined, { ref: false })])
    },
  }
}

interface Bell {
  ring(): void
  /** Resolves at a notification since the reset, or after this time. */
  wait(ms: number): Promise<void>
  reset(): void
}

function createBell(): Bell {
  let rung = Promise.withResolvers<void>()
  return {
    ring: () => rung.resolve(),
    async wait(ms) {
      const timer = setTimeout(() => rung.resolve(), ms)
      timer.unref()
      await rung.promise
      clearTimeout(timer)
    },
    reset() {
      rung = Promise.withResolvers<void>()
    },
  }
}
