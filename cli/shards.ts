/**
 * `barograph shards`: adds a shard, shows them, merges them into one, and makes and restores backups of them. It asks PostgreSQL, Kafka and
 * QuestDB themselves, by the settings.
 */

import type { Command } from 'commander'
import { addShard, dayText } from './add-shard.ts'
import { backUpAllShards, restoreAllShards } from './backup-shards.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { type MergedShard, mergeShards } from './merge-shards.ts'
import { bytesText, printJson, printTable, printText } from './output.ts'
import { listShards, shardsTable } from './shards-list.ts'

const addHelp = `
QUESTDB_SHARDS names the QuestDB of the new shard behind those of the others. Readings of every so many devices go to it from
the start of that day on, and what was stored before stays where it is. Until then start each process again, one by one, with the
same QUESTDB_SHARDS.

Examples:
  barograph shards add --from 2026-12-01
  barograph shards add --from-start`

const dayPattern = /^\d{4}-\d\d-\d\d$/

const mergeHelp = `
No process of the service may run, and nothing may wait in the topics: stop the senders, wait until barograph shards list shows no group
that waits, and stop all processes. All rows are copied to the QuestDB of shard 1 and compared; then PostgreSQL says that all
readings are there. After an interruption run it again before a process starts. The further QuestDBs keep their rows.

Example:
  barograph shards merge`

const backupHelp = `
The service runs. For each shard the command of --copy is run, by sh, while its QuestDB keeps the files of a checkpoint: SHARD is its
number, and FOLDER is a folder of the backup. It copies db and .checkpoint of QuestDB's root there, or makes a snapshot of them elsewhere.

Example:
  barograph shards backup /backups/monday --copy \\
    'rsync -a questdb-$SHARD:/var/lib/questdb/db questdb-$SHARD:/var/lib/questdb/.checkpoint "$FOLDER/"'`

const restoreHelp = `
The database at DATABASE_URL has to be empty, and no process may run. Put db and .checkpoint of each shard into the root of its QuestDB,
with an empty file _restore beside them, before that is started. What the topics have of later times is sent again.

Example:
  barograph shards restore /backups/monday`

interface Json {
  json?: boolean
}

export function defineShards(command: Command, context: CommandContext): void {
  const { streams } = context
  command
    .command('add')
    .description('add the next shard: its topics, and the day from which on it has a share of the devices')
    .option('--from <day>', 'UTC day, as 2026-12-01 (default: the first one that is possible)')
    .option(
      '--from-start',
      'for a service that has no readings yet and does not run: the shard has its share of all times',
    )
    .option('--json', 'print as JSON')
    .addHelpText('after', addHelp)
    .action(async ({ from, fromStart, json }: Json & { from?: string; fromStart?: boolean }) => {
      if (from !== undefined && fromStart === true) throw new CommandError('give --from or --from-start', exitUsage)
      const day = from === undefined ? undefined : dayUs(from)
      const added = await addShard(context, fromStart === true ? 'start' : day)
      if (json === true) printJson(streams, added)
      else {
        const { shard, from, buckets, topics } = added
        const share = `${buckets} of 4096 buckets of devices from ${from} on`
        printText(streams.stdout, `shard ${shard}: ${share}\n${topics.map(topic => `topic ${topic}\n`).join('')}`)
      }
    })
  command
    .command('merge')
    .description('copy the readings of all shards to shard 1, which then has all devices')
    .option('--json', 'print as JSON')
    .addHelpText('after', mergeHelp)
    .action(async ({ json }: Json) => {
      const merged = await mergeShards(context)
      if (json === true) printJson(streams, merged)
      else printText(streams.stdout, `${merged.map(mergedText).join('\n')}\nall readings are on shard 1\n`)
    })
  command
    .command('backup')
    .description('copy PostgreSQL, the offsets of the topics, the secrets and, by a command, the QuestDB of each shard')
    .argument('<folder>', 'new or empty folder')
    .requiredOption('--copy <command>', 'copies the QuestDB of one shard')
    .option('--json', 'print as JSON')
    .addHelpText('after', backupHelp)
    .action(async (folder: string, { copy, json }: Json & { copy: string }) => {
      const done = await backUpAllShards(context, folder, copy)
      if (json === true) printJson(streams, done)
      else
        printText(
          streams.stdout,
          `backed up to ${folder}: ${done.shards} shards, ${done.files} files, ${bytesText(done.bytes)}\n`,
        )
    })
  command
    .command('restore')
    .description('check a backup of shards and restore PostgreSQL and the offsets of the topics from it')
    .argument('<folder>', 'folder of the backup')
    .option('--json', 'print as JSON')
    .addHelpText('after', restoreHelp)
    .action(async (folder: string, { json }: Json) => {
      const restored = await restoreAllShards(context, folder)
      if (json === true) printJson(streams, restored)
      else {
        const lines = restored.topics.map(({ name, offset }) => `topic ${name}: sent again from offset ${offset} on\n`)
        printText(streams.stdout, `restored the backup of ${restored.createdAt}\n${lines.join('')}`)
      }
    })
  command
    .command('list')
    .description('show the shards with their QuestDBs, their shares of the devices and who forwards them')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph shards list')
    .action(async ({ json }: Json) => {
      const shown = await listShards(context)
      if (json === true) printJson(streams, shown)
      else printTable(streams, shardsTable(shown))
    })
}

function mergedText({ shard, rows }: MergedShard): string {
  const counts = Object.entries(rows).map(([table, count]) => `${count} ${table}`)
  return `shard ${shard}: copied ${counts.join(', ')}`
}

function dayUs(text: string): number {
  const ms = dayPattern.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  // A day that is none, as the 31st of June, is read as another one.
  if (Number.isNaN(ms) || dayText(ms * 1000) !== text) {
    throw new CommandError('--from must be a day of the calendar, as 2026-12-01', exitUsage)
  }
  return ms * 1000
}
