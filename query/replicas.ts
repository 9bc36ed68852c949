/** Chooses which replica of QuestDB queries read. Each replica has all rows. */

import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import type { Pool, PoolResult, QueriesOf } from './pool.ts'
import { allFromReadings, type HourSources } from './questdb/hourly-sql.ts'

export interface ReadReplica {
  readonly address: QuestdbAddress
  /** Whether it answered the last probe, and its expired days are known. Without it every query is sent. */
  readonly answers?: () => boolean | Promise<boolean>
  /** Without it all hours are computed from raw readings. */
  readonly hourSources?: () => HourSources
}

export interface Replicas {
  /** The first one has the number 1. */
  readonly addresses: readonly QuestdbAddress[]
  /** The number of the replica that was chosen last. */
  current(): number
  /** Where the hours of that replica are. */
  hourSources(): HourSources
  /** Whether a replica answers: a read in pieces stays on the replica that it began with. */
  answers(number: number): boolean | Promise<boolean>
  /** The number of a replica that answers, the current one if it does; undefined when none does. A promise while one is probed. */
  choose(): number | undefined | Promise<number | undefined>
}

export function createReplicas(replicas: readonly ReadReplica[]): Replicas {
  let current = 1
  const answersAt = (number: number) => replicas[number - 1]?.answers?.() ?? true

  async function chooseAmong(answers: boolean | Promise<boolean>): Promise<number | undefined> {
    if (await answers) return current
    const others = replicas.map((_, at) => at + 1).filter(number => number !== current)
    for (const number of others) {
      if (!(await answersAt(number))) continue
      current = number
      return number
    }
    return undefined
  }

  return {
    addresses: replicas.map(({ address }) => address),
    current: () => current,
    hourSources: () => replicas[current - 1]?.hourSources?.() ?? allFromReadings,
    answers: answersAt,
    choose() {
      const answers = answersAt(current)
      return answers === true ? current : chooseAmong(answers)
    },
  }
}

export const noReplicaAnswers = { ok: false, code: 'DATABASE_AWAY', reason: 'QuestDB does not answer a probe' } as const

/** Runs a query in a pool, on the chosen replica. `queryOf` gets the sources of its hours. */
export async function runOnReplica<Queries extends QueriesOf<Queries>, Result, Name extends keyof Queries & string>(
  { pool, replicas }: { readonly pool: Pool<Queries, Result>; readonly replicas: Replicas },
  name: Name,
  queryOf: (sources: HourSources) => Queries[Name],
  signal: AbortSignal,
  sinceMs?: number,
): Promise<PoolResult<Result>> {
  const chosen = replicas.choose()
  const replica = chosen instanceof Promise ? await chosen : chosen
  if (replica === undefined) return noReplicaAnswers
  return await pool.run(name, { ...queryOf(replicas.hourSources()), replica }, signal, sinceMs)
}
