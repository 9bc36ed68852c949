/** `barograph content-files`: imports, exports, unpublishes and removes content files. */

import { Readable } from 'node:stream'
import type { Command } from 'commander'
import { ChangedFiles, ImportedFiles } from '../query/content/import/answer.ts'
import type { NameAction } from '../query/content/import/named-files.ts'
import type { ContentFileName } from '../query/content/line.ts'
import { type AdminClient, refusal } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitRejected, exitUsage } from './command-error.ts'
import { type LinesOptions, sendLines } from './content-files-lines.ts'
import { download } from './download.ts'
import type { ImportStreams } from './import.ts'

const exitStatus = `
Exit status: 0 all lines were accepted, ${exitRejected} some were rejected, 1 the command failed.`

const importHelp = `
Each line is a JSON object with the fields of /api/v1/contentfiles/, and optionally:
  created_on   ISO 8601 time with a zone; default: now for a new file, unchanged for an existing one
  published    true or false; default: true
  content      the full text, stored but not shown in the listing
Required fields: key, run_id, run_title, resource_id, offered_by, platform. A line replaces the whole content file; fields
that it omits become empty or the default. A content file is identified by run_id and key, so importing the same lines
again changes nothing. An id in the line is used if it is free. Units, platforms, topics, departments, resources and runs
are shared between content files: the last imported line defines them.
Input may be compressed with gzip or zstd. The maximum length of a line is 4 MiB.

Examples:
  barograph content-files import files.ndjson --rejects rejects.csv
  zcat files.ndjson.gz | barograph content-files import - --json
${exitStatus}`

const exportHelp = `
Writes all content files, including unpublished ones, in the format of import, ordered by id. Importing the output into an
empty database restores the same files and ids. Changes made during the export may or may not be included.

Examples:
  barograph content-files export --output files.ndjson
  barograph content-files export | zstd > files.ndjson.zst`

const nameHelp = (action: NameAction) => `
Select content files by --id, by --run with --key, or by an NDJSON file whose lines have run_id and key, or id, such as an
export. Names that match no file are counted and are not an error, so the command can be run again.

Examples:
  barograph content-files ${action} --id 17400769 17400770
  barograph content-files ${action} --run 5995 --key courses/21m-380/pages/week-1/
  barograph content-files ${action} old.ndjson
${exitStatus}`

export function defineContentFiles(command: Command, { client, streams }: CommandContext): void {
  addLinesOptions(command.command('import').description('add or update content files from NDJSON'))
    .argument('<file...>', 'NDJSON files, or - for standard input')
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
    .description('export all content files as NDJSON')
    .option('--output <file>', 'write to this file instead of standard output')
    .addHelpText('after', exportHelp)
    .action(async ({ output }: { output?: string }) => {
      const response = await client.send('GET', '/content-files/export')
      if (!response.ok) throw await refusal(response)
      await download(response, streams.stdout, output)
    })
  addNameCommand(command, 'unpublish', 'hide content files from the listing without removing them', { client, streams })
  addNameCommand(command, 'remove', 'remove content files permanently', { client, streams })
}

function addLinesOptions(command: Command): Command {
  return command
    .option('--rejects <file>', 'write each rejected line to this CSV file, with its line number and the reason')
    .option('--json', 'print the result as JSON, without progress')
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
    .argument('[file...]', 'NDJSON files, or - for standard input')
    .option('--id <id...>', 'content file ids', collectId)
    .option('--run <id>', 'run id of the keys', text => collectId(text)[0])
    .option('--key <key...>', 'keys of content files within the run')
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
    throw new CommandError('select content files by --id, by --run with --key, or by an NDJSON file', exitUsage)
  }
  if (files.length > 0) return { files, stdin }
  return { files: ['-'], stdin: Readable.from([Buffer.from(names.map(name => JSON.stringify(name)).join('\n'))]) }
}

function namesIn({ id = [], run, key = [] }: NameOptions): ContentFileName[] {
  if ((run === undefined) !== (key.length === 0))
    throw new CommandError('--run and --key must be used together', exitUsage)
  const keyed = run === undefined ? [] : key.map(each => ({ run_id: run, key: each }))
  return [...id.map(each => ({ id: each })), ...keyed]
}

function collectId(text: string, earlier: number[] = []): number[] {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new CommandError(`${text} is not a valid id: it must be a whole number from 1`, exitUsage)
  return [...earlier, Number(text)]
}

function importSummary({ accepted = 0, added = 0, changed = 0 }: Record<string, number>): string {
  return `imported ${accepted} lines: ${added} files added, ${changed} updated`
}

function nameSummary(action: NameAction, { changed = 0, unknown = 0 }: Record<string, number>): string {
  const what = action === 'remove' ? 'removed' : 'unpublished'
  return `${what} ${changed} files${unknown === 0 ? '' : `; ${unknown} names match no file`}`
}
