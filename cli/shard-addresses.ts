/** The QuestDBs of the shards, by the settings. */

import type { Config } from '../settings/config.ts'
import { parseQuestdbAddress, type QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { StartError } from '../store/start-error.ts'
import { CommandError } from './command-error.ts'

/** Of the first `count` ones. */
export function shardAddresses(
  { QUESTDB_HTTP, QUESTDB_PG, QUESTDB_SHARDS = [] }: Config,
  count: number,
): QuestdbAddress[] {
  if (QUESTDB_SHARDS.length < count - 1) {
    throw new CommandError(
      `there are ${count} shards, and QUESTDB_SHARDS names those up to ${QUESTDB_SHARDS.length + 1}`,
    )
  }
  try {
    const first = parseQuestdbAddress(QUESTDB_HTTP, QUESTDB_PG)
    return [first, ...QUESTDB_SHARDS.map(({ http, pg }) => parseQuestdbAddress(http, pg))].slice(0, count)
  } catch (error) {
    if (error instanceof StartError) throw new CommandError(error.message)
    throw error
  }
}
