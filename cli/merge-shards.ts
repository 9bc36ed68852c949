/** Brings the readings of all shards into shard 1, while no process of the service runs. */

import type pg from 'pg'
import { readPlacement } from '../ingest/kafka/placement-rows.ts'
import { shardRow, tryLock } from '../ingest/kafka/shard-session.ts'
import { topicsOf } from '../ingest/kafka/topic-names.ts'
import { MergeRefused, mergeShard } from '../lifecycle/merge/merge-shard.ts'
import { shardCountOf } from '../placement/added-shard.ts'
import { endNodeEpoch } from '../store/postgres/node-epoch.ts'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { QuestdbError } from '../store/questdb/client/questdb-error.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { lockAlone } from './lock-alone.ts'
import { printText } from './output.ts'
import { shardAddresses } from './shard-addresses.ts'
import { shardLags } from './shard-lags.ts'
import { withPostgres } from './with-postgres.ts'

export interface MergedShard {
  shard: number
  /** Copied, by table. */
  rows: Record<string, number>
}

export async function mergeShards(context: CommandContext): Promise<MergedShard[]> {
  const config = context.readSettings()
  return await withPostgres(config, async client => {
    const lost = new AbortController()
    const lock = await lockAlone(config, error => lost.abort(new CommandError(error.message)))
    try {
      const count = shardCountOf(await readPlacement(client))
      if (count === 1) throw new CommandError('all readings are on shard 1 already')
      const [first, ...others] = shardAddresses(config, count)
      await holdShards(client, count)
      await endNodeEpoch(client)
      await assertNothingWaits(context, client, count)
      const merged: MergedShard[] = []
      for (const [at, from] of others.entries()) {
        const shard = at + 2
        const onDay = (table: string, day: string) =>
          printText(context.streams.stderr, `shard ${shard}: ${table} of ${day}\n`)
        const rows = await copy(shard, { from, to: first as QuestdbAddress, signal: lost.signal, onDay })
        merged.push({ shard, rows })
      }
      lost.signal.throwIfAborted()
      await client.query('BEGIN')
      await client.query('DELETE FROM shard_placements')
      // What they say of the views is of before the copy; a service begins without.
      await client.query('DELETE FROM hourly_view')
      await client.query('COMMIT')
      return merged
    } finally {
      await lock.close()
    }
  })
}

/** By the session of this client, so that no process forwards to them. */
async function holdShards(client: pg.Client, count: number): Promise<void> {
  for (let shard = 1; shard <= count; shard++) {
    const { number, holder } = await shardRow(client, `s${shard}`)
    if (await tryLock(client, number)) continue
    throw new CommandError(`shard ${shard} is forwarded by ${holder ?? 'a process'}: stop all processes first`)
  }
}

/** Of the shards that go; the first one stays as it is. */
async function assertNothingWaits(context: CommandContext, client: pg.Client, count: number): Promise<void> {
  const lags = await shardLags(context, count)
  const at = lags.findIndex(lag => lag !== 0)
  if (at >= 0) {
    const text = `${lags[at]} groups of readings wait for shard ${at + 1}`
    throw new CommandError(`${text}: start a process with --role forward until none waits`)
  }
  const { KAFKA_TOPIC_PREFIX } = context.readSettings()
  await assertNoRewind(client, count, KAFKA_TOPIC_PREFIX)
  for (let shard = 2; shard <= count; shard++) {
    const { readings } = topicsOf(KAFKA_TOPIC_PREFIX, shard)
    const { rows } = await client.query('SELECT FROM shard_dead_letters WHERE topic = $1 LIMIT 1', [readings])
    if (rows.length === 0) continue
    throw new CommandError(`shard ${shard} has dead letters: replay or discard them first (barograph dead-letters)`)
  }
}

/** A forwarder takes it from the table, and sends again from there. */
async function assertNoRewind(client: pg.Client, count: number, prefix: string): Promise<void> {
  for (let shard = 1; shard <= count; shard++) {
    const text = 'SELECT FROM shard_topics WHERE topic = $1 AND rewind_to IS NOT NULL'
    const { rows } = await client.query(text, [topicsOf(prefix, shard).readings])
    if (rows.length === 0) continue
    throw new CommandError(
      `readings of shard ${shard} are to be sent again: start a process with --role forward until none waits`,
    )
  }
}

async function copy(shard: number, options: Parameters<typeof mergeShard>[0]): Promise<Record<string, number>> {
  try {
    return await mergeShard(options)
  } catch (error) {
    options.signal.throwIfAborted()
    if (!(error instanceof MergeRefused || error instanceof QuestdbError)) throw error
    throw new CommandError(`shard ${shard} and shard 1: ${error.message}`)
  }
}
