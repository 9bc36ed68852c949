/** What a thread reads the shards with: connections of its own to each QuestDB, opened when it is first read. */

import { bug } from '../../limits/bug.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { createPgConnection, type PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { failureOfShard, QueryFailed } from '../query-failed.ts'
import { type ColumnsReader, createColumnsReader } from '../questdb/columns-reader.ts'
import { createValuesSource, type MeasurementsSource } from '../questdb/measurements-source.ts'
import { createReadingsSource, type ReadingsSource } from '../questdb/readings-source.ts'
import { measurementValues } from '../questdb/values-table.ts'
import type { WorkerSettings } from '../task.ts'

export interface ShardReads {
  readonly connection: Pick<PgConnection, 'read'>
  readonly reader: Pick<ColumnsReader, 'read'>
  readonly source: ReadingsSource
  readonly measurements: MeasurementsSource
}

/** By the shard's number. */
export type OpenShard = (shard: number) => ShardReads

/** For one task after the other; as long as its thread. Throws DATABASE_AWAY for a shard that the task says is away. */
export function createShards(settings: WorkerSettings): (task: { readonly away?: readonly number[] }) => OpenShard {
  const { shards } = settings
  const opened = new Map<number, ShardReads>()

  function open(shard: number): ShardReads {
    const address = shards[shard - 1]
    if (address === undefined) throw bug(`there are ${shards.length} shards, and none with the number ${shard}`)
    const known = opened.get(shard)
    if (known !== undefined) return known
    const reads = openShard(address, settings, shards.length > 1 ? shard : undefined)
    opened.set(shard, reads)
    return reads
  }

  return ({ away = [] }) => {
    if (away.length === 0) return open
    return shard => {
      if (away.includes(shard)) throw new QueryFailed('DATABASE_AWAY', 'it does not answer a probe', shard)
      return open(shard)
    }
  }
}

/** `shard`: whose its failures are; undefined where there is one shard alone. */
function openShard(questdb: QuestdbAddress, settings: WorkerSettings, shard: number | undefined): ShardReads {
  const own = createPgConnection(questdb.pg, settings)
  const connection = shard === undefined ? own : namedReads(own, shard)
  // One for each source, so that a task may ask them side by side.
  const openReader = () => {
    const reader = createColumnsReader({ ...settings, questdb }, connection)
    return shard === undefined ? reader : namedReads(reader, shard)
  }
  return {
    connection,
    reader: openReader(),
    source: createReadingsSource(openReader(), connection),
    measurements: createValuesSource(openReader(), connection, measurementValues),
  }
}

function namedReads<Asked extends readonly unknown[], Result>(
  { read }: { read(...asked: Asked): Promise<Result> },
  shard: number,
): { read(...asked: Asked): Promise<Result> } {
  return {
    async read(...asked) {
      try {
        return await read(...asked)
      } catch (error) {
        throw failureOfShard(shard, error)
      }
    },
  }
}
