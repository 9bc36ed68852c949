/** `barograph replicas`: shows the replicas of QuestDB, and makes one from another. It asks Kafka, PostgreSQL and QuestDB itself. */

import type { Command } from 'commander'
import type pg from 'pg'
import { stateKey, topicsOf } from '../ingest/kafka/client/names.ts'
import { offsetAt } from '../ingest/kafka/client/partition.ts'
import { readPublished } from '../ingest/kafka/state/forward-status.ts'
import { markLost, readReplicaHolders } from '../ingest/kafka/state/rows.ts'
import { createReplicaState } from '../ingest/kafka/state/state.ts'
import { points } from '../ingest/points-table.ts'
import { readings } from '../ingest/readings-table.ts'
import type { TableDescription } from '../ingest/table.ts'
import { copyReplica } from '../service/backup/copy-replica.ts'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../store/questdb/client/questdb-client.ts'
import { QuestdbError } from '../store/questdb/client/questdb-error.ts'
import { type CommandContext, createInterrupt } from './command-context.ts'
import { CommandError, exitInterrupted } from './command-error.ts'
import { commandError, logTo, runCopy } from './kafka-backup.ts'
import { bytesText, printJson, printTable, printText } from './output.ts'
import { replicaAddress, replicaAddresses, replicaNumber, topicEnds, withKafka } from './with-kafka.ts'
import { withPostgres } from './with-postgres.ts'

const addHelp = `
QUESTDB_REPLICAS names the new replica, and all processes run with it. The command of --copy is run by sh while QuestDB of the
other replica keeps the files of a checkpoint: it copies db and .checkpoint into the root of the new QuestDB, with an empty
file _restore beside them, and starts it. The service runs meanwhile. A replica that is lost is made again in the same way.

Example:
  barograph replicas add 2 --from 1 --copy 'ssh questdb-2 make-copy-of questdb-1'`

const resendHelp = `
Sends the records of the topics from there on again. The replica stores each row once.

Example:
  barograph replicas resend 2 --from 2026-11-27T00:00:00Z`

interface Json {
  json?: boolean
}

export function defineReplicas(command: Command, context: CommandContext): void {
  const { streams } = context
  command
    .command('list')
    .description('show each replica with its state, its process, its offsets and its size')
    .option('--json', 'print as JSON')
    .action(async ({ json }: Json) => {
      const shown = await listReplicas(context)
      if (json === true) printJson(streams, shown)
      else printTable(streams, [header, ...shown.map(rowOf)])
    })
  command
    .command('add')
    .description('make a replica as a copy of another one, without a stop of the service')
    .argument('<number>', 'number of the new replica', replicaNumber)
    .requiredOption('--from <number>', 'replica that is copied', replicaNumber)
    .requiredOption('--copy <command>', 'copies the files of QuestDB and starts the new one')
    .addHelpText('after', addHelp)
    .action(async (number: number, { from, copy }: { from: number; copy: string }) => {
      const topics = await addReplica(context, from, number, copy)
      const lines = topics.map(({ topic, offset }) => `topic ${topic}: sent from offset ${offset} on\n`)
      printText(streams.stdout, `replica ${number} is a copy of replica ${from}\n${lines.join('')}`)
    })
  command
    .command('remove')
    .description('forward nothing more to a replica, and wait for it with no erase')
    .argument('<number>', 'number of the replica', replicaNumber)
    .action(async (number: number) => {
      await removeReplica(context, number)
      printText(streams.stdout, `replica ${number} is removed; barograph replicas add makes it again\n`)
    })
  command
    .command('resend')
    .description('send the records of the topics to a replica again')
    .argument('<number>', 'number of the replica', replicaNumber)
    .requiredOption('--from <time or offset>', 'ISO time, or an offset of the topic of readings')
    .addHelpText('after', resendHelp)
    .action(async (number: number, { from }: { from: string }) => {
      for (const { topic, offset } of await resend(context, number, from)) {
        printText(streams.stdout, `topic ${topic}: sent again from offset ${offset} on\n`)
      }
    })
}

interface ShownReplica {
  number: number
  address: string
  state: string
  reason: string | null
  holder: string | null
  topics: { topic: string; committed_offset: number | null; applied_offset: number | null; end_offset: number }[]
  readings: number | null
  bytes: number | null
}

async function listReplicas(context: CommandContext): Promise<ShownReplica[]> {
  const config = context.readSettings()
  const { ends, holders, published } = await withPostgres(config, async postgres => ({
    ends: await topicEnds(context, postgres),
    holders: await readReplicaHolders(postgres),
    published: await readPublished(postgres),
  }))
  return await Promise.all(
    replicaAddresses(config).map(async (address, at) => {
      const number = at + 1
      const known = holders.find(one => one.number === number)
      const size = await sizeOf(address)
      const topics = [...ends].map(([topic, end_offset]) => {
        const { committed = null, applied = null } = published.get(stateKey(topic, number)) ?? {}
        return { topic, committed_offset: committed, applied_offset: applied, end_offset }
      })
      return {
        number,
        address: `${address.http.host}:${address.http.port}`,
        state: known?.lost !== undefined ? 'lost' : known === undefined ? 'new' : size.reason === null ? 'up' : 'away',
        reason: known?.lost ?? size.reason,
        holder: known?.holder ?? null,
        topics,
        readings: size.readings,
        bytes: size.bytes,
      }
    }),
  )
}

async function sizeOf({ http }: QuestdbAddress): Promise<Pick<ShownReplica, 'readings' | 'bytes' | 'reason'>> {
  const client = createQuestdbClient(http)
  try {
    const rows = await client.exec('SELECT tableName, rowCount, diskSize FROM table_storage()', sizeMsMax)
    const readingsRow = rows.find(([name]) => name === readings.name)
    const bytes = rows.reduce((sum, [, , size]) => sum + Number(size), 0)
    return { readings: Number(readingsRow?.[1] ?? 0), bytes, reason: null }
  } catch (error) {
    if (!(error instanceof QuestdbError)) throw error
    return { readings: null, bytes: null, reason: error.message }
  } finally {
    client.close()
  }
}

const sizeMsMax = 10_000
const header = ['replica', 'QuestDB', 'state', 'process', 'applied offsets', 'records behind', 'readings', 'size']

function rowOf({ number, address, state, reason, holder, topics, readings: count, bytes }: ShownReplica): string[] {
  return [
    String(number),
    address,
    reason === null ? state : `${state}: ${reason}`,
    holder ?? 'none',
    topics.map(({ applied_offset }) => applied_offset ?? 'none').join(' | '),
    topics.map(({ applied_offset, end_offset }) => Math.max(0, end_offset - (applied_offset ?? 0))).join(' | '),
    count === null ? 'unknown' : String(count),
    bytes === null ? 'unknown' : bytesText(bytes),
  ]
}

/** Refuses while no other replica shows all that this one shows: reads would have nothing newer to go to. */
async function removeReplica(context: CommandContext, number: number): Promise<void> {
  const config = context.readSettings()
  replicaAddress(config, number)
  await withPostgres(config, async postgres => {
    const others = (await readReplicaHolders(postgres)).filter(one => one.number !== number && one.lost === undefined)
    if (others.length === 0) throw new CommandError('no other replica is in use, so nothing would have the readings')
    const published = await readPublished(postgres)
    for (const topic of (await topicEnds(context, postgres)).keys()) {
      const applied = (replica: number) => published.get(stateKey(topic, replica))?.applied ?? 0
      const missing = applied(number) - Math.max(...others.map(other => applied(other.number)))
      if (missing > 0) {
        throw new CommandError(
          `only replica ${number} shows the last ${missing} records of topic ${topic}; try again later`,
        )
      }
    }
    await markLost(postgres, number, 'it was removed')
  })
}

async function tablesByTopic(context: CommandContext): Promise<Map<string, TableDescription>> {
  return await withKafka(context, async (_kafka, { topicPrefix }) => {
    const topics = topicsOf(topicPrefix)
    return new Map([
      [topics.readings, readings],
      [topics.points, points],
    ])
  })
}

async function addReplica(context: CommandContext, from: number, to: number, copyCommand: string) {
  const config = context.readSettings()
  if (from === to) throw new CommandError('a replica is made from another one')
  const tables = await tablesByTopic(context)
  const interrupt = createInterrupt()
  const { stderr } = context.streams
  const copy = (postgres: pg.Client) =>
    copyReplica({
      from: { number: from, http: replicaAddress(config, from).http },
      to: { number: to, http: replicaAddress(config, to).http },
      postgres,
      tables,
      copyFiles: () => runCopy(context, copyCommand),
      signal: interrupt.signal,
      onStep: step => printText(stderr, `${step}\n`),
      log: logTo(context),
    })
  try {
    return await withPostgres(config, copy, { takesLong: true })
  } catch (error) {
    if (interrupt.signal.aborted)
      throw new CommandError(`interrupted; replica ${to} is lost until it is added`, exitInterrupted)
    throw commandError(error)
  } finally {
    interrupt.stop()
  }
}

async function resend(context: CommandContext, number: number, from: string) {
  const config = context.readSettings()
  replicaAddress(config, number)
  const offsets = await withKafka(context, async (kafka, _settings, topics) => {
    const found: { topic: string; offset: number }[] = []
    for (const [at, topic] of topics.entries()) {
      const partition = await kafka.partition(topic)
      try {
        if (/^\d{1,15}$/.test(from)) {
          if (at === 0) found.push({ topic, offset: Number(from) })
          continue
        }
        const timeMs = Date.parse(from)
        if (Number.isNaN(timeMs)) throw new CommandError(`${from} is neither an ISO time nor an offset`)
        found.push({ topic, offset: await offsetAt(partition, timeMs) })
      } finally {
        await partition.close()
      }
    }
    return found
  })
  await withPostgres(config, async postgres => {
    const state = createReplicaState({
      pool: postgres as never,
      tenure: undefined,
      replicas: [number],
      tables: new Map(),
    })
    for (const { topic, offset } of offsets) await state.requestRewind(topic, offset)
  })
  return offsets
}
