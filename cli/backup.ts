/** `barograph backup`. */

import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { Command } from 'commander'
import { BackupLine } from '../api/admin/backup.ts'
import type { BackupResult } from '../service/backup/backup.ts'
import { BackupError } from '../service/backup/backup-parts.ts'
import { restore } from '../service/backup/restore.ts'
import type { Config } from '../service/settings/config.ts'
import type { Log } from '../store/log.ts'
import { StartError } from '../store/start-error.ts'
import { packageVersion } from '../store/version.ts'
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
function backupSummary({ files, bytes, rows }: BackupResult): string {
  const counts = Object.entries(rows).map(([table, count]) => `${count} ${table}`)
  return `${files} files, ${bytesText(bytes)}; in QuestDB ${counts.join(' and ')}`
}

const restoreHelp = `
The service must not run. DATA_DIR has to be empty or not to exist, and so has the database at DATABASE_URL, if it is set.

Example:
  DATA_DIR=/var/lib/barograph barograph restore /backups/2026-11-22`

/** `barograph restore`. */
export function defineRestore(command: Command, { streams, readSettings }: CommandContext): void {
  command
    .argument('<folder>', 'folder of the backup')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', restoreHelp)
    .action(async (folder: string, { json }: { json?: boolean }) => {
      const restored = await restoreTo(readSettings(), resolve(folder), streams)
      if (json === true) printJson(streams, restored)
      else printText(streams.stdout, `restored the backup of ${restored.createdAt}: ${backupSummary(restored)}\n`)
    })
}

async function restoreTo(config: Config, folder: string, { stderr }: Streams) {
  const print = (_fields: unknown, text?: string) => printText(stderr, `${text ?? ''}\n`)
  const log = { info: () => undefined, warn: print, error: print } as Log
  try {
    return await restore({
      folder,
      version: packageVersion(),
      dataDirectory: config.DATA_DIR,
      store: {
        questdbHttp: config.QUESTDB_HTTP,
        questdbPg: config.QUESTDB_PG,
        databaseUrl: config.DATABASE_URL,
        questdbCommitMode: config.QUESTDB_COMMIT_MODE,
        cacheDirectory: config.cacheDirectory,
        environment: config.environment,
        log,
      },
      onStep: step => printText(stderr, `${step}\n`),
    })
  } catch (error) {
    if (error instanceof BackupError || error instanceof StartError) throw new CommandError(error.message)
    throw error
  }
}
