/** What has to hold where a shard has its share of all times: no reading is anywhere yet, and none is taken meanwhile. */

import type pg from 'pg'
import { topicsOf } from '../ingest/kafka/topic-names.ts'
import type { Log } from '../store/log.ts'
import { migrate, migrationsFolder } from '../store/postgres/migrations.ts'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../store/questdb/client/questdb-client.ts'
import { StartError } from '../store/start-error.ts'
import { readingsTable } from '../store/tables.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { withKafka } from './kafka.ts'
import { lockAlone } from './lock-alone.ts'
import { shardAddresses } from './shard-addresses.ts'

const ignore = () => undefined
const silentLog: Log = { info: ignore, warn: ignore, error: ignore }
const askTimeoutMs = 10_000

/** While no process takes requests, and on a schema that is up to date. */
export async function beforeStart<Result>(
  context: CommandContext,
  client: pg.Client,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = await lockAlone(context.readSettings(), ignore)
  try {
    await migrate(client, migrationsFolder, silentLog)
    return await work()
  } catch (error) {
    if (error instanceof StartError) throw new CommandError(error.message)
    throw error
  } finally {
    await lock.close()
  }
}

/** Of the first `count` shards: neither in their QuestDBs nor on the way there. */
export async function assertNoReadings(context: CommandContext, count: number): Promise<void> {
  for (const [at, address] of shardAddresses(context.readSettings(), count).entries()) {
    if (await hasReadings(address)) throw new CommandError(`shard ${at + 1} has readings: ${remedy}`)
  }
  await withKafka(context, async (kafka, { topicPrefix }) => {
    for (let shard = 1; shard <= count; shard++) {
      const { readings } = topicsOf(topicPrefix, shard)
      const partition = await kafka.partition(readings)
      const { end } = await partition.offsets().finally(() => partition.close())
      if (end > 0) throw new CommandError(`the topic ${readings} has had readings: ${remedy}`)
    }
  })
}

const remedy = 'use --from with a day to come'

export async function hasReadings({ http }: QuestdbAddress): Promise<boolean> {
  const client = createQuestdbClient(http)
  try {
    const isThere = `SELECT count() FROM tables() WHERE table_name = '${readingsTable}'`
    if (Number((await client.exec(isThere, askTimeoutMs))[0]?.[0]) === 0) return false
    const [row] = await client.exec(`SELECT count() FROM ${readingsTable}`, askTimeoutMs)
    return Number(row?.[0]) > 0
  } finally {
    client.close()
  }
}
