/** `barograph backup`. */

import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { Command } from 'commander'
import { BackupLine } from '../api/admin/backup.ts'
import type { BackupResult } from '../service/backup/backup.ts'
import { type AdminClient, refusal } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { bytesText, printJson, printText, type Streams } from './output.ts'

const backupHelp = `
The service has to run. The folder is on its machine, new or empty, and holds secrets afterwards: keep it private.

Example:
  barograph backup /backups/$(date +%F)`

export function defineBackup(command: Command, { client, streams }: CommandContext): void {
  command
    .argument('<folder>', 'new or empty folder')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', backupHelp)
    .action(async (folder: string, { json }: { json?: boolean }) => {
      const done = await backUp(client, streams, resolve(folder))
      if (json === true) printJson(streams, done)
      else printText(streams.stdout, `backed up to ${folder}: ${backupSummary(done)}\n`)
    })
}

type Done = Extract<BackupLine, { done: unknown }>['done']

async function backUp(client: AdminClient, { stderr }: Streams, directory: string): Promise<Done> {
  const headers = { 'content-type': 'application/json' }
  const response = await client.send('POST', '/backup', { headers, body: JSON.stringify({ directory }) })
  if (!response.ok || response.body === null) throw await refusal(response)
  let lastStep = ''
  try {
    for await (const text of createInterface(Readable.fromWeb(response.body as never))) {
      const line = BackupLine.parse(JSON.parse(text))
      if ('error' in line) throw new CommandError(line.error)
      if ('done' in line) return line.done
      const step = `${line.step}, ${bytesText(line.bytes)} copied`
      if (step !== lastStep) printText(stderr, `${step}\n`)
      lastStep = step
    }
  } catch (error) {
    if (error instanceof CommandError) throw error
  }
  throw new CommandError('the server ended the connection before the backup was whole')
}

/** Sizes of a backup, as `backup` and `restore` print them. */
export function backupSummary({ files, bytes, rows }: BackupResult): string {
  const counts = Object.entries(rows).map(([table, count]) => `${count} ${table}`)
  return `${files} files, ${bytesText(bytes)}; in QuestDB ${counts.join(' and ')}`
}
