/**
 * Chooses the replica of QuestDB that queries read. Each replica has all rows, some later than others. A replica that
 * shows less than the previous reads is not chosen, so that readers never go back in time.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import type { Pool, PoolResult, QueriesOf } from './pool.ts'
import { allFromReadings, type HourSources } from './questdb/hourly-sql.ts'

export interface ReadReplica {
  readonly address: QuestdbAddress
  /** The replica answered the last probe, and its expired days are known. Without it every query is sent. */
  readonly answers?: () => boolean | Promise<boolean>
  /**
   * Each journal has the position before which the replica shows everything. A replica without this function is never
   * behind.
   */
  readonly shown?: () => readonly number[]
  /** The end of each journal as far as this process has read it. The replica may show rows before it reports them. */
  readonly end?: () => readonly number[]
  /** All hours are computed from raw readings without it. */
  readonly hourSources?: () => HourSources
}

export interface ReplicasOptions {
  /** The number of the replica that is read while it answers and is not behind. */
  readonly preferred?: number | undefined
  readonly monotonicMs?: () => number
}

export interface Replicas {
  /** The first one has the number 1. */
  readonly addresses: readonly QuestdbAddress[]
  /** The number of the replica that was chosen last. */
  current(): number
  /** Number of changes of the choice. */
  changes(): number
  /** Sources of hours in a replica, by default in the current one. */
  hourSources(number?: number): HourSources
  /** Used by reads in pieces, which stay on the replica that they began with. */
  answers(number: number): boolean | Promise<boolean>
  /**
   * The number of a replica that answers, preferably the current one; undefined when none does. A promise while one is
   * probed.
   */
  choose(): number | undefined | Promise<number | undefined>
  /** The replica was read: later reads show no less. */
  wasRead(number: number): void
  /** Marks a replica as unavailable after a failed query: others are chosen first until it was probed. */
  suspect(number: number): void
  /** Returns the milliseconds for which each replica has shown less than another one, indexed by number less 1. */
  behindMs(): readonly number[]
}

/** A replica further behind is not read while another one is closer. */
const behindMsMax = 10_000
/** Time that a read waits for a replica that has caught up with the previous reads. */
const waitMsMax = 5_000
/** Time that a read waits for a better replica than the current one, and the pause after it did not catch up. */
const changeMsMax = 2_000
const changeRetryMs = 60_000
const pollMs = 50
/** Longer than the period and the timeout of a probe. */
const suspectMs = 5_000
/** Interval at which a query in progress checks whether its replica still answers. */
const checkMs = 500

export function createReplicas(replicas: readonly ReadReplica[], options: ReplicasOptions = {}): Replicas {
  const { preferred, monotonicMs = () => performance.now() } = options
  const progress = createProgress(replicas, monotonicMs)
  const isAlone = replicas.length === 1
  let current = preferred ?? 1
  let changes = 0
  let notCaughtUpMs = Number.NEGATIVE_INFINITY
  const suspectUntilMs = replicas.map(() => Number.NEGATIVE_INFINITY)
  const answersAt = (number: number) => replicas[number - 1]?.answers?.() ?? true
  const seen = createSeen(replicas)
  const isAtFloor = (number: number) => seen.isShown(number, number === current)

  function chosen(number: number): number {
    if (number !== current) changes++
    current = number
    seen.chosen(number)
    return number
  }

  /** A single replica is read even if it has lost rows. */
  function chooseAlone(): number | undefined | Promise<number | undefined> {
    const answers = answersAt(1)
    if (answers instanceof Promise) return answers.then(isAnswering => (isAnswering ? 1 : undefined))
    return answers ? 1 : undefined
  }

  /** Replicas in the order of preference. */
  function ranked(): number[] {
    const behindMs = progress.behindMs()
    const nowMs = monotonicMs()
    const rankOf = (number: number) => {
      if (nowMs < (suspectUntilMs[number - 1] ?? 0)) return Number.MAX_VALUE
      const ms = behindMs[number - 1] ?? 0
      if (ms > behindMsMax) return ms
      return number === preferred ? -2 : number === current ? -1 : 0
    }
    return replicas.map((_, at) => at + 1).sort((one, other) => rankOf(one) - rankOf(other))
  }

  /** 0 while one that answers has to catch up. The current one is only read if no better one may catch up soon. */
  async function findOne(isPatient: boolean): Promise<number | undefined> {
    let isLagging = false
    for (const number of ranked()) {
      if (!(await answersAt(number))) continue
      if (isAtFloor(number)) return isLagging && isPatient && number === current ? 0 : chosen(number)
      isLagging = true
    }
    return isLagging ? 0 : undefined
  }

  async function findInTime(): Promise<number | undefined> {
    const startMs = monotonicMs()
    for (;;) {
      const nowMs = monotonicMs()
      const waitedMs = nowMs - startMs
      const isPatient = waitedMs < changeMsMax && nowMs - notCaughtUpMs > changeRetryMs
      const found = await findOne(isPatient)
      // A read that did not wait does not renew the pause.
      if (found === current && waitedMs >= changeMsMax && ranked()[0] !== current) notCaughtUpMs = nowMs
      if (found !== 0) return found
      if (waitedMs > waitMsMax) return undefined
      await sleep(pollMs)
    }
  }

  return {
    addresses: replicas.map(({ address }) => address),
    current: () => current,
    changes: () => changes,
    hourSources: (number = current) => replicas[number - 1]?.hourSources?.() ?? allFromReadings,
    answers: answersAt,
    choose() {
      if (isAlone) return chooseAlone()
      const isBest = ranked()[0] === current && isAtFloor(current)
      return isBest && answersAt(current) === true ? chosen(current) : findInTime()
    },
    wasRead: number => seen.wasRead(number, number === current),
    suspect(number) {
      suspectUntilMs[number - 1] = monotonicMs() + suspectMs
    },
    behindMs: progress.behindMs,
  }
}

/** Tracks the positions of the journals that readers have seen. */
function createSeen(replicas: readonly ReadReplica[]) {
  /** The chosen replica reported that it shows these when it was chosen. */
  let floor: readonly number[] = []
  /** The last read showed no more, as far as this process or the replica's forwarder had read the topics. */
  let endAtRead: readonly number[] = []
  /** The current replica may show less than the last read: it has lost rows, or that read was of another one. */
  let isDoubtful = false
  const shownAt = (number: number) => replicas[number - 1]?.shown?.() ?? []
  return {
    /** False while the replica may show less than an earlier read. */
    isShown(number: number, isCurrent: boolean): boolean {
      const isReported = isAtLeast(shownAt(number), floor)
      if (isCurrent) isDoubtful ||= !isReported
      return isReported && ((isCurrent && !isDoubtful) || isAtLeast(shownAt(number), endAtRead))
    },
    chosen(number: number): void {
      floor = shownAt(number)
      isDoubtful = false
    },
    wasRead(number: number, isCurrent: boolean): void {
      const end = replicas[number - 1]?.end?.() ?? []
      endAtRead = end.map((position, at) => Math.max(position, shownAt(number)[at] ?? 0))
      if (!isCurrent) isDoubtful = true
    },
  }
}

function isAtLeast(shown: readonly number[], floor: readonly number[]): boolean {
  return floor.every((position, at) => (shown[at] ?? 0) >= position)
}

/** Measures the time that each replica is behind the most advanced one. */
function createProgress(replicas: readonly ReadReplica[], monotonicMs: () => number) {
  /**
   * The most advanced positions when a replica was last seen to advance. It is behind since then if it shows less now.
   */
  const marks = replicas.map(() => ({ position: [] as readonly number[], atMs: monotonicMs() }))

  return {
    behindMs(): readonly number[] {
      const nowMs = monotonicMs()
      const shown = replicas.map(replica => replica.shown?.() ?? [])
      const best = (shown[0] ?? []).map((_, at) => Math.max(...shown.map(positions => positions[at] ?? 0)))
      return marks.map((mark, at) => {
        if (isAtLeast(shown[at] ?? [], best)) {
          Object.assign(mark, { position: best, atMs: nowMs })
          return 0
        }
        if (!isAtLeast(shown[at] ?? [], mark.position)) return nowMs - mark.atMs
        Object.assign(mark, { position: best, atMs: nowMs })
        return 0
      })
    },
  }
}

export const noReplicaAnswers = { ok: false, code: 'DATABASE_AWAY', reason: 'probe of QuestDB failed' } as const

type Outcome = { readonly ok: true } | { readonly ok: false; readonly code: string }

type Work<Result> = (replica: number, signal: AbortSignal) => Promise<Result>

/**
 * Runs work on the chosen replica. If that is unavailable or stops answering, the work runs once more on another one,
 * so it must not have side effects.
 */
export async function onReplica<Result extends Outcome>(
  replicas: Replicas,
  client: AbortSignal,
  work: Work<Result>,
): Promise<Result | typeof noReplicaAnswers> {
  const isAlone = replicas.addresses.length === 1
  for (let attempt = 1; attempt <= replicas.addresses.length; attempt++) {
    const replica = await replicas.choose()
    if (replica === undefined) break
    const result = isAlone ? await work(replica, client) : await whileAnswering(replicas, replica, client, work)
    if (result !== 'away') {
      if (result.ok) replicas.wasRead(replica)
      return result
    }
    replicas.suspect(replica)
  }
  return noReplicaAnswers
}

async function whileAnswering<Result extends Outcome>(
  replicas: Replicas,
  replica: number,
  client: AbortSignal,
  work: Work<Result>,
): Promise<Result | 'away'> {
  const gone = new AbortController()
  const timer = setInterval(() => replicas.answers(replica) !== true && gone.abort(), checkMs)
  const result = await work(replica, AbortSignal.any([client, gone.signal])).finally(() => clearInterval(timer))
  const isAway = !(result.ok || client.aborted) && (result.code === 'DATABASE_AWAY' || gone.signal.aborted)
  return isAway ? 'away' : result
}

/** Runs a query in a pool, on a replica. `queryOf` gets the replica's sources of hours. */
export async function runOnReplica<Queries extends QueriesOf<Queries>, Result, Name extends keyof Queries & string>(
  { pool, replicas }: { readonly pool: Pool<Queries, Result>; readonly replicas: Replicas },
  name: Name,
  queryOf: (sources: HourSources) => Queries[Name],
  signal: AbortSignal,
  sinceMs?: number,
): Promise<PoolResult<Result>> {
  return await onReplica(replicas, signal, (replica, client) =>
    pool.run(name, { ...queryOf(replicas.hourSources(replica)), replica }, client, sinceMs),
  )
}
