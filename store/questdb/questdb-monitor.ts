/** Watches a QuestDB, managed or external: prepares it whenever it comes up, and knows whether it is there. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'
import type { QuestdbAddress } from './client/questdb-address.ts'
import { createQuestdbClient, type QuestdbClient } from './client/questdb-client.ts'
import { isUnanswered, QuestdbError } from './client/questdb-error.ts'
import { identifyQuestdb } from './questdb-identity.ts'
import type { Parameter } from './questdb-settings.ts'
import { ensureTables } from './questdb-tables.ts'
import type { Exec } from './until-applied.ts'

export interface QuestdbState {
  state: 'starting' | 'up' | 'away'
  reason?: string
}

/** Why it must not be used although it answers; undefined where it may. Where it rejects, the reason of before holds. */
export type ContentCheck = (exec: Exec) => Promise<string | undefined>

export interface QuestdbMonitor {
  /** The first time that it is reachable with our tables in place. */
  ready: Promise<void>
  state(): QuestdbState
  /** Also while it must not be used for what it has. */
  isReachable(): boolean
  /** Each time that it comes up, and each second, the check is made before it counts as up. The result has it made at once. */
  guard(check: ContentCheck): () => void
  /** By its state while that is up, else by a probe of this moment. */
  answers(): boolean | Promise<boolean>
  commitMode(): string | undefined
  version(): string | undefined
  /** For who knows better than a probe why it is gone. */
  markAway(reason: string): void
  /** For who knows that it will not come up. */
  fail(error: unknown): void
  close(): Promise<void>
}

export interface MonitorOptions {
  address: QuestdbAddress
  /** How it is called in the log. */
  name: string
  retryMsMax: number
  /** It has just been started here, so that it does not answer at first means nothing. */
  startsNow: boolean
  /** Looks at the effective settings and throws a StartError when it must not be used so. */
  checkSettings: (parameters: ReadonlyMap<string, Parameter>) => void
  log: Log
  /** While it is away, the log says so as often as this. */
  remindMs?: number
}

const probeEveryMs = 1000
const probeTimeoutMs = 3000
const retryMsMin = 50
const closeWaitMs = 500
const checkTimeoutMs = 10_000
const beingChecked: QuestdbState = { state: 'starting', reason: 'what QuestDB has is being checked' }

interface Facts {
  version: string
  commitMode: string | undefined
}

export function monitorQuestdb(options: MonitorOptions): QuestdbMonitor {
  const { address, name, retryMsMax, log, remindMs = 60_000 } = options
  const client = createQuestdbClient(address.http)
  const probe = createProbe(client)
  const reminder = createReminder(
    reason => log.warn({ reason }, `${name} unavailable; readings wait in the journal`),
    remindMs,
  )
  const contentReminder = createReminder(
    reason => log.warn({ reason }, `what ${name} has cannot be checked, retrying`),
    remindMs,
  )
  const closing = new AbortController()
  const ready = Promise.withResolvers<void>()
  // Who waits for it gets the error; nobody has to.
  ready.promise.catch(() => undefined)
  let state: QuestdbState = { state: 'starting' }
  let facts: Facts | undefined
  let check: ContentCheck | undefined
  let contentFault: QuestdbState | undefined
  let bell = Promise.withResolvers<void>()

  function turnUp(found: Facts): void {
    facts = found
    if (check !== undefined) contentFault = beingChecked
    state = { state: 'up' }
    reminder.reset()
    log.info({ version: found.version, commitMode: found.commitMode }, `${name} is up`)
    ready.resolve()
  }

  function markAway(reason: string): void {
    if (closing.signal.aborted) return
    state = { state: 'away', reason }
    reminder.remind(reason)
  }

  /** Nothing of it is read before. */
  async function checkContent(): Promise<void> {
    if (check === undefined) return
    const reason = await check(sql => client.exec(sql, checkTimeoutMs))
    const before = contentFault?.state === 'away' ? contentFault.reason : undefined
    contentFault = reason === undefined ? undefined : { state: 'away', reason }
    if (reason !== undefined && reason !== before) log.error({ reason }, `${name} lacks rows that it had`)
    if (reason === undefined && before !== undefined) log.info({}, `${name} has all rows that it had`)
  }

  /** That QuestDB does not answer shows by the next probe. */
  function noteUnchecked(error: unknown): void {
    if (!isUnanswered(error)) contentReminder.remind(error instanceof Error ? error.message : String(error))
  }

  async function look(): Promise<void> {
    try {
      if (state.state === 'up') await client.exec('SELECT 1', probeTimeoutMs)
      else turnUp(await prepare(client, options))
      await checkContent().catch(noteUnchecked)
    } catch (error) {
      if (error instanceof StartError) ready.reject(error)
      const reason = `${name} cannot be used: ${error instanceof Error ? error.message : String(error)}`
      if (state.state === 'starting' && options.startsNow) state = { state: 'starting', reason }
      // That nobody listens is no news where the reason is known.
      else if (!(state.state === 'away' && isNotListening(error))) markAway(reason)
      else reminder.remind(state.reason)
    }
  }

  async function watch(): Promise<void> {
    let retryMs = retryMsMin
    while (!closing.signal.aborted) {
      bell = Promise.withResolvers()
      await look()
      retryMs = state.state === 'up' ? retryMsMin : Math.min(retryMs * 1.5, retryMsMax)
      const pauseMs = state.state === 'up' ? probeEveryMs : retryMs
      await Promise.race([bell.promise, sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => undefined)])
    }
  }

  const watched = watch()
  return {
    ready: ready.promise,
    state: () => (state.state === 'up' ? (contentFault ?? state) : state),
    isReachable: () => state.state === 'up',
    guard(given) {
      check = given
      contentFault = beingChecked
      bell.resolve()
      return () => bell.resolve()
    },
    answers: () => contentFault === undefined && (state.state === 'up' || probe()),
    commitMode: () => facts?.commitMode,
    version: () => facts?.version,
    markAway,
    fail(error) {
      ready.reject(error)
      markAway(error instanceof Error ? error.message : String(error))
    },
    async close() {
      closing.abort()
      ready.reject(new Error(`closed before ${name} was ready`))
      client.close()
      // A look that hangs at somebody else's server must not hold us up; it has a time limit of its own.
      await Promise.race([watched, sleep(closeWaitMs, undefined, { ref: false })])
      state = { state: 'away', reason: 'closed' }
    },
  }
}

/** At once, and then now and then: a wrong address stays wrong until somebody sees it. */
function createReminder(report: (reason: string | undefined) => void, everyMs: number) {
  let toldMs = Number.NEGATIVE_INFINITY
  return {
    remind(reason: string | undefined): void {
      if (performance.now() - toldMs < everyMs) return
      toldMs = performance.now()
      report(reason)
    },
    reset(): void {
      toldMs = Number.NEGATIVE_INFINITY
    },
  }
}

/** Whoever asks while one is under way waits for the same answer. */
function createProbe(client: QuestdbClient): () => Promise<boolean> {
  let probing: Promise<boolean> | undefined
  return () => {
    probing ??= client
      .exec('SELECT 1', probeTimeoutMs)
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        probing = undefined
      })
    return probing
  }
}

function isNotListening(error: unknown): boolean {
  return error instanceof QuestdbError && error.code === 'NOT_LISTENING'
}

/** All that is asked and done each time it has come up: an external one may come back as another one. */
async function prepare(client: QuestdbClient, { address, checkSettings }: MonitorOptions): Promise<Facts> {
  const { version, parameters } = await identifyQuestdb(client, address)
  checkSettings(parameters)
  await ensureTables(client)
  return { version, commitMode: parameters.get('cairo.commit.mode')?.value }
}
