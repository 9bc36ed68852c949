/** `barograph kafka`: makes the topics that are the journals, and shows them. It asks Kafka itself, by the settings. */

import { Argument, type Command, InvalidArgumentError } from 'commander'
import type { Partition } from '../ingest/kafka/client/cluster.ts'
import type { Kafka } from '../ingest/kafka/client/connect.ts'
import { topicsOf } from '../ingest/kafka/client/names.ts'
import { type PreparedTopic, prepareTopic } from '../ingest/kafka/client/prepare.ts'
import {
  describeTopic,
  differenceText,
  messageBytesName,
  retentionMsOf,
  type TopicDifference,
} from '../ingest/kafka/client/settings.ts'
import { points } from '../ingest/points-table.ts'
import { readings } from '../ingest/readings-table.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { backUpService, restoreService } from './kafka-backup.ts'
import { catTopic } from './kafka-cat.ts'
import { countUpTo } from './option-values.ts'
import { bytesText, printJson, printTable, printText, type Streams, writeJsonLine } from './output.ts'
import { durationText } from './status.ts'
import { replicaNumber, withKafka } from './with-kafka.ts'

const prepareHelp = `
The settings with KAFKA_ in their names say where Kafka is and what the topics are to be like. The service need not run.
Longer retention of a topic stays. Without --apply no topic that is there is changed.

Example:
  KAFKA_BROKERS=kafka-1:9092,kafka-2:9092,kafka-3:9092 barograph kafka prepare`

const showHelp = `
Example:
  barograph kafka show --json | jq '.[].end_offset'`

const catHelp = `
It ends where the topic ended when it began. docs/kafka.md describes the fields.

Example:
  barograph kafka cat readings --from 1200 | jq 'select(.device == "kitchen")'`

const backupHelp = `
The service runs. The command of --copy is run by sh while QuestDB keeps the files of a checkpoint; FOLDER is a folder of the backup.
It copies db and .checkpoint of QuestDB's root there, or makes a snapshot of them elsewhere.

Example:
  barograph kafka backup /backups/monday --copy \\
    'rsync -a questdb:/var/lib/questdb/db questdb:/var/lib/questdb/.checkpoint "$FOLDER/"'`

const restoreHelp = `
The database at DATABASE_URL has to be empty, and no process may run. Put db and .checkpoint into the root of QuestDB, with an empty
file _restore beside them, before it is started. What the topics have of later times is sent again.

Example:
  barograph kafka restore /backups/monday`

interface Json {
  json?: boolean
}

export function defineKafka(command: Command, context: CommandContext): void {
  const { streams } = context
  command
    .command('prepare')
    .description('make the topics, and name the settings of those that are there and promise less')
    .option('--apply', 'also change these settings, where no record goes for that')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', prepareHelp)
    .action(async ({ apply, json }: Json & { apply?: boolean }) => {
      const prepared: PreparedTopic[] = []
      await withKafka(context, async (kafka, { requirements }, topics) => {
        for (const topic of topics) {
          const done = await prepareTopic(kafka.admin, topic, { requirements, apply: apply === true })
          prepared.push(done)
          // Each result is printed at once, since the next topic may fail.
          if (json !== true) printPrepared(streams, done)
        }
      })
      if (json === true) printJson(streams, prepared)
      refuseWeak(prepared)
    })
  command
    .command('show')
    .description('show the topics with their offsets and replicas')
    .option('--json', 'print as JSON')
    .addHelpText('after', showHelp)
    .action(async ({ json }: Json) => {
      const shown = await withKafka(context, (kafka, _settings, topics) =>
        Promise.all(topics.map(topic => show(kafka, topic))),
      )
      if (json === true) printJson(streams, shown)
      else printTable(streams, [header, ...shown.map(rowOf)])
    })
  command
    .command('cat')
    .description('print the records of a topic as NDJSON')
    .addArgument(
      new Argument('[journal]', 'topic of readings or of points').choices(['readings', 'points']).default('readings'),
    )
    .option('--from <offset>', 'first offset (default: the first one that the topic has)', offsetIn)
    .option('--groups <count>', 'groups of records at most', countUpTo(Number.MAX_SAFE_INTEGER))
    .addHelpText('after', catHelp)
    .action(async (journal: 'readings' | 'points', { from, groups }: { from?: number; groups?: number }) => {
      await withKafka(context, async (kafka, { topicPrefix }) => {
        const partition = await kafka.partition(topicsOf(topicPrefix)[journal])
        const table = journal === 'readings' ? readings : points
        const print = (line: object) => writeJsonLine(streams, line)
        await catTopic({ partition, table, from, groupsMax: groups ?? Number.POSITIVE_INFINITY, print })
      })
    })
  command
    .command('backup')
    .description('copy PostgreSQL, the offsets of the topics, the secrets and, by a command, QuestDB')
    .argument('<folder>', 'new or empty folder')
    .requiredOption('--copy <command>', 'copies QuestDB')
    .option('--replica <number>', 'replica that is copied', replicaNumber, 1)
    .option('--json', 'print as JSON')
    .addHelpText('after', backupHelp)
    .action(async (folder: string, { copy, replica, json }: Json & { copy: string; replica: number }) => {
      const { files, bytes } = await backUpService(context, folder, { copyCommand: copy, replica })
      if (json === true) printJson(streams, { files, bytes })
      else printText(streams.stdout, `backed up to ${folder}: ${files} files, ${bytesText(bytes)}\n`)
    })
  command
    .command('restore')
    .description('check such a backup, and restore PostgreSQL and the offsets of the topics from it')
    .argument('<folder>', 'folder of the backup')
    .option('--json', 'print as JSON')
    .addHelpText('after', restoreHelp)
    .action(async (folder: string, { json }: Json) => {
      const restored = await restoreService(context, folder)
      if (json === true) printJson(streams, restored)
      else {
        const lines = restored.topics.map(({ name, offset }) => `topic ${name}: sent again from offset ${offset} on\n`)
        printText(streams.stdout, `restored the backup of ${restored.createdAt}\n${lines.join('')}`)
      }
    })
}

function printPrepared({ stdout }: Streams, { topic, isNew, changed, left }: PreparedTopic): void {
  const lines: string[] = []
  if (isNew) lines.push(`topic ${topic}: made`)
  else if (changed.length + left.length === 0) lines.push(`topic ${topic}: nothing to change`)
  lines.push(...changed.map(({ name, value, wanted }) => `topic ${topic}: ${name} changed from ${value} to ${wanted}`))
  lines.push(...left.map(leftText))
  printText(stdout, `${lines.join('\n')}\n`)
}

function leftText(difference: TopicDifference): string {
  const { topic, name, isRequired, obstacle } = difference
  const purpose = name === messageBytesName ? 'for groups of up to 4 MiB' : 'for the use of space alone'
  const text = `topic ${topic}: ${differenceText(difference)}${isRequired ? '' : `, ${purpose}`}`
  return `${text} (${obstacle ?? '--apply changes it'})`
}

export function refuseWeak(prepared: readonly PreparedTopic[]): void {
  const weak = prepared.flatMap(({ left }) => left).filter(({ isRequired }) => isRequired)
  if (weak.length === 0) return
  throw new CommandError('the service does not start with these topics, because they would lose acknowledged readings')
}

function offsetIn(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Expected an offset.')
}

interface ShownTopic {
  topic: string
  partitions: { leader: string | null; replicas: number[]; in_sync: number[] }[]
  start_offset: number | null
  end_offset: number | null
  /** Null where Kafka deletes nothing. */
  retention_seconds: number | null
}

async function show(kafka: Kafka, topic: string): Promise<ShownTopic> {
  const found = await describeTopic(kafka.admin, topic)
  if (found === undefined) {
    return { topic, partitions: [], start_offset: null, end_offset: null, retention_seconds: null }
  }
  const partition = await kafka.partition(topic)
  try {
    const { start, end } = await partition.offsets()
    const retentionMs = retentionMsOf(found.settings) ?? Number.POSITIVE_INFINITY
    return {
      topic,
      partitions: found.partitions.map(partitionOf),
      start_offset: start,
      end_offset: end,
      retention_seconds: Number.isFinite(retentionMs) ? retentionMs / 1000 : null,
    }
  } finally {
    await partition.close()
  }
}

function partitionOf({ leader, replicas, inSync }: Partition): ShownTopic['partitions'][number] {
  return { leader: leader === undefined ? null : `${leader.host}:${leader.port}`, replicas, in_sync: inSync }
}

const header = ['topic', 'leader', 'replicas', 'in sync', 'first offset', 'next offset', 'kept for']

function rowOf({ topic, partitions, start_offset, end_offset, retention_seconds }: ShownTopic): string[] {
  if (partitions.length === 0) return [topic, 'no such topic: run barograph kafka prepare']
  const each = (read: (partition: (typeof partitions)[number]) => unknown) => partitions.map(read).join(' | ')
  return [
    topic,
    each(({ leader }) => leader ?? 'none'),
    each(({ replicas }) => replicas.join(',')),
    each(({ in_sync }) => in_sync.join(',')),
    String(start_offset),
    String(end_offset),
    retention_seconds === null ? 'ever' : durationText(retention_seconds),
  ]
}
