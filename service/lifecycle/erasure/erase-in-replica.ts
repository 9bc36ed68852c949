/** Takes the rows of series out of the QuestDB of one replica, however many keys there are, until none has values any more. */

import type { Log } from '../../../store/log.ts'
import { refreshHourlyView } from '../../../store/questdb/hourly-view.ts'
import type { Questdb } from '../../../store/questdb/questdb.ts'
import { atEachReplica, type QuestdbReplica, replicaPrefix } from '../../../store/questdb/questdb-replicas.ts'
import { type Exec, untilTableApplied } from '../../../store/questdb/until-applied.ts'
import { readingsTable } from '../../../store/tables.ts'
import type { ErasedRows, ErasedSeries } from './erase-records.ts'
import { countRows, type ErasedTable, eraseRows, keysPresent } from './erase-rows.ts'

/** Statements go to its QuestDB. */
export interface ErasedReplica extends QuestdbReplica<Pick<Questdb, 'state'>> {
  exec: Exec
  /** Whether it has to be a new copy of another one before it is in use again: nothing is erased in it. */
  isLost?: (() => boolean) | undefined
}

/** Of a replica that is lost meanwhile there is no result. */
export async function atEachInUse<Result>(
  replicas: readonly ErasedReplica[],
  work: (replica: ErasedReplica) => Promise<Result>,
): Promise<Result[]> {
  const inUse = replicas.filter(({ isLost }) => isLost?.() !== true)
  const results = await atEachReplica(inUse, async replica => {
    try {
      return { result: await work(replica) }
    } catch (error) {
      if (replica.isLost?.() === true) return undefined
      throw error
    }
  })
  return results.flatMap(one => (one === undefined ? [] : [one.result]))
}

export interface ReplicaErasureOptions {
  replicas: readonly ErasedReplica[]
  pause: (ms: number) => Promise<void>
  log: Pick<Log, 'warn'>
}

export interface ReplicaErasure {
  /** Gives how many rows are left of them, without values. */
  eraseKeys(replica: ErasedReplica, table: ErasedTable, keys: readonly string[]): Promise<number>
  eraseSeries(replica: ErasedReplica, table: ErasedTable, series: ErasedSeries): Promise<void>
  /** Of series that were erased before, those that have rows with values again. */
  eraseReappeared(replica: ErasedReplica, table: ErasedTable, rowsOf: ErasedRows, series: ErasedSeries): Promise<void>
}

const pauseMs = 100
/** Of the keys in one statement: it stands in a URL, and QuestDB takes headers of 64 KiB. */
const keysCharactersMax = 16_000
/** Whoever still writes after so many rounds will not stop by himself. */
const roundsMax = 10

/** The job cannot end well, so it is not tried again. */
export class EraseFailure extends Error {}

export function createReplicaErasure({ replicas, pause, log }: ReplicaErasureOptions): ReplicaErasure {
  async function eraseKeys(replica: ErasedReplica, table: ErasedTable, keys: readonly string[]): Promise<number> {
    const { exec } = replica
    for (let round = 0; round < roundsMax; round++) {
      const txn = await eraseRows(exec, table, keys, () => pause(pauseMs))
      const { present, erased } = await countRows(exec, table, keys)
      if (present > 0) continue
      // It holds what the readings are no more.
      if (table.name === readingsTable) await refreshHourlyView(exec, txn, () => pause(pauseMs))
      return erased
    }
    throw new EraseFailure(`${replicaPrefix(replicas, replica)}new ${table.name} kept coming in`)
  }

  async function eraseReappeared(
    replica: ErasedReplica,
    table: ErasedTable,
    rowsOf: ErasedRows,
    series: ErasedSeries,
  ): Promise<void> {
    // What it has taken it may not show yet.
    await untilTableApplied(replica.exec, table.name, () => pause(pauseMs))
    for (const some of inStatements(table.keysOf(series))) {
      const present = await keysPresent(replica.exec, table, some)
      if (present.length === 0) continue
      await eraseKeys(replica, table, present)
      log.warn(
        { series: present.length, replica: replicas.length > 1 ? replica.number : undefined },
        `erased ${rowsOf} reappeared in QuestDB, deleted again`,
      )
    }
  }

  return {
    eraseKeys,
    eraseReappeared,
    async eraseSeries(replica, table, series) {
      for (const some of inStatements(table.keysOf(series))) await eraseKeys(replica, table, some)
    },
  }
}

function* inStatements(keys: readonly string[]): Generator<string[]> {
  let some: string[] = []
  let characters = 0
  for (const key of keys) {
    if (characters + key.length > keysCharactersMax) {
      yield some
      some = []
      characters = 0
    }
    some.push(key)
    characters += key.length
  }
  if (some.length > 0) yield some
}
