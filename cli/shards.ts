/** `barograph shards`: adds a shard, and shows them. It asks PostgreSQL, Kafka and QuestDB themselves, by the settings. */

import type { Command } from 'commander'
import { readPlacement } from '../ingest/kafka/placement-rows.ts'
import { readShardHolders } from '../ingest/kafka/shard-holder.ts'
import { topicsOf } from '../ingest/kafka/topic-names.ts'
import { bucketsOf, shardCountOf } from '../placement/added-shard.ts'
import type { Placement } from '../placement/placement.ts'
import { parseQuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { addShard, dayText } from './add-shard.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { withKafka } from './kafka.ts'
import { printJson, printTable, printText } from './output.ts'
import { withPostgres } from './with-postgres.ts'

const addHelp = `
QUESTDB_SHARDS names the QuestDB of the new shard behind those of the others. Readings of every so many devices go to it from
the start of that day on, and what was stored before stays where it is. Until then start each process again, one by one, with the
same QUESTDB_SHARDS.

Example:
  barograph shards add --from 2026-12-01`

const dayPattern = /^\d{4}-\d\d-\d\d$/

interface Json {
  json?: boolean
}

export function defineShards(command: Command, context: CommandContext): void {
  const { streams, readSettings } = context
  command
    .command('add')
    .description('add the next shard: its topics, and the day from which on it has a share of the devices')
    .option('--from <day>', 'UTC day, as 2026-12-01 (default: the first one that is possible)')
    .option('--json', 'print as JSON')
    .addHelpText('after', addHelp)
    .action(async ({ from, json }: Json & { from?: string }) => {
      const added = await addShard(context, from === undefined ? undefined : dayUs(from))
      if (json === true) printJson(streams, added)
      else {
        const { shard, from, buckets, topics } = added
        const share = `${buckets} of 4096 buckets of devices from ${from} on`
        printText(streams.stdout, `shard ${shard}: ${share}\n${topics.map(topic => `topic ${topic}\n`).join('')}`)
      }
    })
  command
    .command('list')
    .description('show the shards with their QuestDBs, their shares of the devices and who forwards them')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph shards list')
    .action(async ({ json }: Json) => {
      const config = readSettings()
      const [placement, holders] = await withPostgres(config, async client => {
        return [await readPlacement(client), await readShardHolders(client)] as const
      })
      const lags = await lagsOf(context, shardCountOf(placement))
      const { QUESTDB_HTTP: http, QUESTDB_PG: pg, QUESTDB_SHARDS = [] } = config
      const addresses = [{ http, pg }, ...QUESTDB_SHARDS].map(addressText)
      const shown = shardsOf(placement, Date.now() * 1000).map(shard => ({
        ...shard,
        questdb: addresses[shard.shard - 1] ?? null,
        forwarder: holders.get(`s${shard.shard}`) ?? null,
        lag_groups: lags[shard.shard - 1] ?? null,
      }))
      if (json === true) printJson(streams, shown)
      else printTable(streams, [header, ...shown.map(rowOf)])
    })
}

interface ShownShard {
  shard: number
  /** Of 4096. */
  buckets: number
  /** The next epoch, and what it has then. */
  next: { from: string; buckets: number } | null
}

function shardsOf(placement: Placement, nowUs: number): ShownShard[] {
  const count = shardCountOf(placement)
  const now = placement.findLast(({ fromUs }) => fromUs <= nowUs)
  const next = placement.find(({ fromUs }) => fromUs > nowUs)
  const [before, after] = [now, next].map(epoch => epoch && bucketsOf(epoch.shards, count))
  return Array.from({ length: count }, (_, at) => ({
    shard: at + 1,
    buckets: before?.[at] ?? 0,
    next: next === undefined ? null : { from: dayText(next.fromUs), buckets: after?.[at] ?? 0 },
  }))
}

/** Groups of readings that wait for QuestDB. */
async function lagsOf(context: CommandContext, count: number): Promise<(number | null)[]> {
  const committed = await withPostgres(context.readSettings(), async client => {
    const { rows } = await client.query<{ topic: string; committed: number | null }>(
      'SELECT topic, committed_offset::float8 AS committed FROM shard_topics',
    )
    return new Map(rows.map(row => [row.topic, row.committed]))
  })
  return await withKafka(context, async (kafka, { topicPrefix }) => {
    const lags: (number | null)[] = []
    for (let shard = 1; shard <= count; shard++) {
      const { readings } = topicsOf(topicPrefix, shard)
      const partition = await kafka.partition(readings)
      const { start, end } = await partition.offsets().finally(() => partition.close())
      lags.push(Math.max(0, end - Math.max(start, committed.get(readings) ?? start)))
    }
    return lags
  })
}

function addressText({ http, pg }: { http: string | undefined; pg: string | undefined }): string {
  const { host, port } = parseQuestdbAddress(http, pg).http
  return `${host}:${port}`
}

const header = ['shard', 'QuestDB', 'buckets', 'next', 'groups that wait', 'forwarder']

function rowOf({
  shard,
  questdb,
  buckets,
  next,
  lag_groups,
  forwarder,
}: ShownShard & {
  questdb: string | null
  forwarder: string | null
  lag_groups: number | null
}): string[] {
  const then = next === null ? '-' : `${next.buckets} from ${next.from}`
  return [
    String(shard),
    questdb ?? 'not in QUESTDB_SHARDS',
    String(buckets),
    then,
    String(lag_groups ?? '-'),
    forwarder ?? '-',
  ]
}

function dayUs(text: string): number {
  const ms = dayPattern.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  // A day that is none, as the 31st of June, is read as another one.
  if (Number.isNaN(ms) || dayText(ms * 1000) !== text) {
    throw new CommandError('--from must be a day of the calendar, as 2026-12-01', exitUsage)
  }
  return ms * 1000
}
