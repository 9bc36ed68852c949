/** `barograph content-files`: the files of the content-file listing, in and out by files of lines. */

import { Readable } from 'node:stream'
import type { Command } from 'commander'
import { ChangedFiles, ImportedFiles } from '../content/import/answer.ts'
import type { NameAction } from '../content/import/named-files.ts'
import type { ContentFileName } from '../content/line.ts'
import type { AdminClient } from './admin-client.ts'
import { CommandError, exitRejected, exitUsage } from './command-error.ts'
import { exportContentFiles } from './content-files-export.ts'
import { type LinesOptions, sendLines } from './content-files-lines.ts'
import type { ImportStreams } from './import.ts'

const exitStatus = `
Exit status: 0 all lines were taken, ${exitRejected} some were rejected, 1 the command could not be finished.`

const importHelp = `
Each line is a JSON object as /api/v1/contentfiles/ shows it, and besides:
  created_on   an ISO 8601 time with a zone; now for a new file, what it was for one that is there
  published    true or false; true by default
  content      the full text, which is kept and not shown
Required are key, run_id, run_title, resource_id, offered_by and platform. A line holds all of a file: what it does not
say is empty, or the default. A file is known by its run_id and key: one that is there is changed, and an import of the
same lines once more changes nothing. An id is kept when it is free. Units, platforms, topics, departments, resources and
runs are for all files what the newest line says of them.
The files may be compressed with gzip or zstd. Lines may have up to 4 MiB.

Examples:
  barograph content-files import files.ndjson --rejects rejects.csv
  zcat files.ndjson.gz | barograph content-files import - --json
${exitStatus}`

const exportHelp = `
Writes every file, also unpublished ones, as a line that import takes, ordered by id: an import into an empty store gives
the same files with the same ids. What changes meanwhile may be in it or not.

Examples:
  barograph content-files export --output files.ndjson
  barograph content-files export | zstd > files.ndjson.zst`

const nameHelp = (action: NameAction) => `
Files are named by --id, by --run with --key, or by the lines of a file: each has run_id and key, or else an id; an
export has them too. A name of no file is counted and is no fault, so the command can be run again.

Examples:
  barograph content-files ${action} --id 17400769 17400770
  barograph content-files ${action} --run 5995 --key courses/21m-380/pages/week-1/
  barograph content-files ${action} old.ndjson
${exitStatus}`

type Streams = ImportStreams & { stdout: NodeJS.WritableStream }

export function addContentFilesCommand(program: Command, client: AdminClient, streams: Streams): void {
  const command = program.command('content-files').description('the files of the content-file listing')
  addLinesOptions(command.command('import').description('add or change files from lines of JSON'))
    .argument('<file...>', 'files of lines; - is the standard input')
    .addHelpText('after', importHelp)
    .action(async (files: string[], options: LinesOptions) => {
      const job = {
        path: '/content-files/import',
        shape: ImportedFiles,
        counts: ['added', 'changed'],
        summary: importSummary,
      }
      await sendLines({ files, stdin: streams.stdin }, job, options, { client, streams })
    })
  command
    .command('export')
    .description('write all files as lines of JSON')
    .option('--output <file>', 'write to this file instead of the standard output')
    .addHelpText('after', exportHelp)
    .action(async ({ output }: { output?: string }) => await exportContentFiles(client, streams.stdout, output))
  addNameCommand(command, 'unpublish', 'take files out of the listing and keep them', { client, streams })
  addNameCommand(command, 'remove', 'remove files for good', { client, streams })
}

function addLinesOptions(command: Command): Command {
  return command
    .option('--rejects <file>', 'write each line that was not taken to this CSV file, with its number and the reason')
    .option('--json', 'print the result as JSON, and no progress')
}

interface NameOptions extends LinesOptions {
  id?: number[]
  run?: number
  key?: string[]
}

interface Ends {
  client: AdminClient
  streams: ImportStreams
}

function addNameCommand(parent: Command, action: NameAction, description: string, ends: Ends): void {
  addLinesOptions(parent.command(action).description(description))
    .argument('[file...]', 'files of lines; - is the standard input')
    .option('--id <id...>', 'ids of files', collectId)
    .option('--run <id>', 'the run of the keys', text => collectId(text)[0])
    .option('--key <key...>', 'keys of files of the run')
    .addHelpText('after', nameHelp(action))
    .action(async (files: string[], options: NameOptions) => {
      const summary = (counts: Record<string, number>) => nameSummary(action, counts)
      const job = { path: `/content-files/${action}`, shape: ChangedFiles, counts: ['changed', 'unknown'], summary }
      await sendLines(sourceOf(files, options, ends.streams), job, options, ends)
    })
}

function sourceOf(files: string[], options: NameOptions, { stdin }: ImportStreams) {
  const names = namesIn(options)
  if (files.length > 0 === names.length > 0) {
    throw new CommandError('name the files by --id, by --run with --key, or by a file of lines', exitUsage)
  }
  if (files.length > 0) return { files, stdin }
  return { files: ['-'], stdin: Readable.from([Buffer.from(names.map(name => JSON.stringify(name)).join('\n'))]) }
}

function namesIn({ id = [], run, key = [] }: NameOptions): ContentFileName[] {
  if ((run === undefined) !== (key.length === 0)) throw new CommandError('--run and --key go together', exitUsage)
  const keyed = run === undefined ? [] : key.map(each => ({ run_id: run, key: each }))
  return [...id.map(each => ({ id: each })), ...keyed]
}

function collectId(text: string, earlier: number[] = []): number[] {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new CommandError(`${text} is no id: a whole number from 1`, exitUsage)
  return [...earlier, Number(text)]
}

function importSummary({ accepted = 0, added = 0, changed = 0 }: Record<string, number>): string {
  return `took ${accepted} lines: ${added} files were added, ${changed} changed`
}

function nameSummary(action: NameAction, { changed = 0, unknown = 0 }: Record<string, number>): string {
  const what = action === 'remove' ? 'removed' : 'unpublished'
  return `${what} ${changed} files${unknown === 0 ? '' : `; ${unknown} names are of no file`}`
}
