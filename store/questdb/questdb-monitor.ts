/** Monitors a QuestDB, managed or external: prepares it whenever it comes up, and reports its state. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'
import type { QuestdbAddress } from './client/questdb-address.ts'
import { createQuestdbClient, type QuestdbClient } from './client/questdb-client.ts'
import { QuestdbError } from './client/questdb-error.ts'
import { type ContentCheck, createContentGuard, createReminder } from './content-guard.ts'
import { identifyQuestdb } from './questdb-identity.ts'
import type { Parameter } from './questdb-settings.ts'
import { ensureTables } from './questdb-tables.ts'

export interface QuestdbState {
  state: 'starting' | 'up' | 'away'
  reason?: string
  /** It answers, but lacks earlier rows. The reason names them, without an address. */
  isLost?: boolean
  /** True while QuestDB is up and a statement runs beyond its time limit. The log has its text. */
  isStatementOverdue?: boolean
}

export interface QuestdbMonitor {
  /** Resolves when QuestDB is first reachable with our tables in place. */
  ready: Promise<void>
  state(): QuestdbState
  /** True also while its content check fails. */
  isReachable(): boolean
  /** Adds a check that must pass each time QuestDB comes up, and each second. The result triggers it at once. */
  guard(check: ContentCheck): () => void
  /**
   * True when reads are allowed: by its state while that is up and checked, else by an immediate probe with the content check.
   */
  answers(): boolean | Promise<boolean>
  commitMode(): string | undefined
  version(): string | undefined
  /** A caller that knows the reason of an outage before the next probe reports it here. */
  markAway(reason: string): void
  /** A caller that knows that QuestDB will not start reports it here. */
  fail(error: unknown): void
  close(): Promise<void>
}

interface MonitorOptions {
  address: QuestdbAddress
  /** Name in the log. */
  name: string
  retryMsMax: number
  /** It has just been started, so that its first silence is normal. */
  startsNow: boolean
  /** Checks the effective settings. Throws a StartError when they make it unusable. */
  checkSettings: (parameters: ReadonlyMap<string, Parameter>) => void
  log: Log
  /** Interval of the log's reminders during an outage. */
  remindMs?: number
  /** Called when QuestDB was up and has not answered for a minute, although its process may run. */
  onSilent?: () => void
  /** Measures that minute. By default the monotonic clock of the process. */
  monotonicMs?: (() => number) | undefined
  /** A statement is overdue from this age on. */
  statementSecondsMax?: number
}

const probeEveryMs = 1000
const probeTimeoutMs = 3000
const retryMsMin = 50
const closeWaitMs = 500

interface Facts {
  version: string
  commitMode: string | undefined
}

export function monitorQuestdb(options: MonitorOptions): QuestdbMonitor {
  const { address, name, retryMsMax, log, remindMs = 60_000 } = options
  const client = createQuestdbClient(address.http)
  const silence = watchSilence(options.onSilent, options.monotonicMs)
  const probeStatements = watchStatements({ ...options, client, timeoutMs: probeTimeoutMs })
  const remindText = `${name} unavailable; readings wait in the journal`
  const reminder = createReminder(reason => log.warn({ reason }, remindText), remindMs)
  const content = createContentGuard(client, options)
  const closing = new AbortController()
  const ready = Promise.withResolvers<void>()
  ready.promise.catch(() => undefined)
  let state: QuestdbState = { state: 'starting' }
  let facts: Facts | undefined

  function turnUp(found: Facts): void {
    facts = found
    content.doubt()
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

  function failed(error: unknown): void {
    silence.failed(error)
    if (error instanceof StartError) ready.reject(error)
    const next = stateAfter(error, state, options)
    if (next.state === 'away') markAway(next.reason ?? '')
    else state = next
  }

  const look = singleFlight(async () => {
    try {
      if (state.state === 'up') state.isStatementOverdue = await probeStatements()
      else turnUp(await prepare(client, options))
      silence.answered()
      await content.look()
    } catch (error) {
      failed(error)
    }
  })
  const isReachable = () => state.state === 'up'
  const mayBeRead = () => isReachable() && content.fault() === undefined
  const lookNow = () => lookWithCheck(look, content.isBeingChecked).then(mayBeRead)
  const bell = createBell()
  const watched = watch(look, isReachable, bell, { retryMsMax, signal: closing.signal })
  return {
    ready: ready.promise,
    state: () => (state.state === 'up' ? (content.fault() ?? state) : state),
    isReachable,
    guard(check) {
      content.set(check)
      bell.ring()
      return bell.ring
    },
    answers: () => (isReachable() && !content.isBeingChecked() ? mayBeRead() : lookNow()),
    commitMode: () => facts?.commitMode,
    version: () => facts?.version,
    markAway(reason) {
      silence.ended()
      markAway(reason)
    },
    fail(error) {
      ready.reject(error)
      markAway(textOf(error))
    },
    async close() {
      closing.abort()
      ready.reject(new Error(`closed before ${name} was ready`))
      client.close()
      // A hanging probe of an external server must not delay the close. It has a separate time limit.
      await Promise.race([watched, sleep(closeWaitMs, undefined, { ref: false })])
      state = { state: 'away', reason: 'closed' }
    },
  }
}

/** A refused connection adds no information where the reason is known, or while QuestDB starts. */
function stateAfter(
  error: unknown,
  state: QuestdbState,
  { name, startsNow }: Pick<MonitorOptions, 'name' | 'startsNow'>,
): QuestdbState {
  const isStarting = state.state === 'starting' && startsNow
  if ((isStarting || state.state === 'away') && isNotListening(error)) return state
  return { state: isStarting ? 'starting' : 'away', reason: `${name} cannot be used: ${textOf(error)}` }
}

/** Interrupts the pause between two probes. */
function createBell() {
  let next = Promise.withResolvers<void>()
  return {
    ring: () => next.resolve(),
    reset(): Promise<void> {
      next = Promise.withResolvers()
      return next.promise
    },
  }
}

async function watch(
  look: () => Promise<void>,
  isUp: () => boolean,
  bell: ReturnType<typeof createBell>,
  { retryMsMax, signal }: { retryMsMax: number; signal: AbortSignal },
): Promise<void> {
  let retryMs = retryMsMin
  while (!signal.aborted) {
    const rung = bell.reset()
    await look()
    retryMs = isUp() ? retryMsMin : Math.min(retryMs * 1.5, retryMsMax)
    const paused = sleep(isUp() ? probeEveryMs : retryMs, undefined, { signal }).catch(() => undefined)
    await Promise.race([rung, paused])
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The first probe may have begun before the check was registered. */
async function lookWithCheck(look: () => Promise<void>, isBeingChecked: () => boolean): Promise<void> {
  await look()
  if (isBeingChecked()) await look()
}

/** Callers during a run share its result. */
function singleFlight(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => {
    running ??= run().finally(() => {
      running = undefined
    })
    return running
  }
}

function isNotListening(error: unknown): boolean {
  return error instanceof QuestdbError && error.code === 'NOT_LISTENING'
}

/** Queries and preparations at each start: an external address may lead to another QuestDB. */
async function prepare(client: QuestdbClient, { address, checkSettings }: MonitorOptions): Promise<Facts> {
  const { version, parameters } = await identifyQuestdb(client, address)
  checkSettings(parameters)
  await ensureTables(client)
  return { version, commitMode: parameters.get('cairo.commit.mode')?.value }
}

interface SilenceWatch {
  answered(): void
  failed(error: unknown): void
  /** Call it when the process has ended. */
  ended(): void
}

const silentMsMax = 60_000
/** A pause of our own process fails one probe, not several. */
const failuresMin = 3

/**
 * `onSilent` is called when QuestDB has not answered for a minute since it was up, and again after each further minute. A start
 * may take longer, as may its first answer.
 */
function watchSilence(
  onSilent: (() => void) | undefined,
  /** A monotonic clock. */
  monotonicMs: () => number = () => performance.now(),
): SilenceWatch {
  let sinceMs: number | undefined
  let failures = 0

  function answered(): void {
    sinceMs = monotonicMs()
    failures = 0
  }

  return {
    answered,
    failed(error) {
      if (sinceMs === undefined) return
      // A refusal is an answer.
      if (!(error instanceof QuestdbError && error.code === 'NO_ANSWER')) return answered()
      if (++failures < failuresMin || monotonicMs() - sinceMs < silentMsMax) return
      answered()
      onSilent?.()
    },
    ended() {
      sinceMs = undefined
    },
  }
}

/** Four times the time limit of a managed QuestDB, and twice QuestDB's own default. */
const statementSeconds = 120
const probesPerLook = 10
const charactersMax = 200

interface StatementsWatchOptions {
  client: Pick<QuestdbClient, 'exec'>
  name: string
  log: Log
  timeoutMs: number
  /** A statement is overdue from this age on. */
  statementSecondsMax?: number
}

/**
 * Returns a probe that resolves to true when a statement runs beyond its time limit. QuestDB checks the limit only between some
 * steps, and such a statement occupies one of few network threads.
 */
function watchStatements(options: StatementsWatchOptions): () => Promise<boolean> {
  const { client, name, log, timeoutMs, statementSecondsMax = statementSeconds } = options
  const where = `worker_pool LIKE '%network%' AND query_start < dateadd('s', -${statementSecondsMax}, systimestamp())`
  const sql = `SELECT query FROM query_activity() WHERE ${where} LIMIT 1`
  let probes = 0
  let overdue: string | undefined

  async function oldest(): Promise<string | undefined> {
    try {
      const [row] = await client.exec(sql, timeoutMs)
      return row === undefined ? undefined : String(row[0]).slice(0, charactersMax)
    } catch (error) {
      // An older version has other columns.
      if (error instanceof QuestdbError && error.code === 'REFUSED') return undefined
      throw error
    }
  }

  return async () => {
    if (++probes % probesPerLook !== 0) {
      await client.exec('SELECT 1', timeoutMs)
      return overdue !== undefined
    }
    const found = await oldest()
    if (found !== undefined && found !== overdue) {
      log.warn({ statement: found }, `a statement of ${name} exceeds its time limit`)
    }
    overdue = found
    return overdue !== undefined
  }
}
