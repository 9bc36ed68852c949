/** Erases the rows of series in one replica's QuestDB, for any number of keys, until no row has values. */

import type { Log } from '../../../store/log.ts'
import { refreshHourlyView } from '../../../store/questdb/hourly-view.ts'
import type { Questdb } from '../../../store/questdb/questdb.ts'
import { atEachReplica, type QuestdbReplica, replicaPrefix } from '../../../store/questdb/questdb-replicas.ts'
import { type Exec, untilTableApplied } from '../../../store/questdb/until-applied.ts'
import { readingsTable } from '../../../store/tables.ts'
import type { ErasedRows, ErasedSeries } from './erase-records.ts'
import { countRows, type ErasedTable, eraseRows, keysPresent } from './erase-rows.ts'

/** Statements run in its QuestDB. */
export interface ErasedReplica extends QuestdbReplica<Pick<Questdb, 'state'>> {
  exec: Exec
  /** True if it has to be copied from another one before it is used again. Erasures skip it. */
  isLost?: (() => boolean) | undefined
}

/** A replica that is lost meanwhile has no result. */
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
  /** Returns the number of remaining rows, which have no values. */
  eraseKeys(replica: ErasedReplica, table: ErasedTable, keys: readonly string[]): Promise<number>
  eraseSeries(replica: ErasedReplica, table: ErasedTable, series: ErasedSeries): Promise<void>
  /** Erases rows with values of series that were erased before. */
  eraseReappeared(replica: ErasedReplica, table: ErasedTable, rowsOf: ErasedRows, series: ErasedSeries): Promise<void>
}

const pauseMs = 100
/** Bounds the keys of one statement: it is part of a URL, and QuestDB accepts headers of 64 KiB. */
const keysCharactersMax = 16_000
/** A writer that still adds rows after this many rounds will not stop. */
const roundsMax = 10

/** The job cannot succeed, so it is not retried. */
export class EraseFailure extends Error {}

export function createReplicaErasure({ replicas, pause, log }: ReplicaErasureOptions): ReplicaErasure {
  async function eraseKeys(replica: ErasedReplica, table: ErasedTable, keys: readonly string[]): Promise<number> {
    const { exec } = replica
    for (let round = 0; round < roundsMax; round++) {
      const txn = await eraseRows(exec, table, keys, () => pause(pauseMs))
      const { present, erased } = await countRows(exec, table, keys)
      if (present > 0) continue
      // The view holds values of the erased readings.
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
    // Accepted rows may not be visible yet.
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
