/** `barograph restore`. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { BackupError } from '../service/backup/backup-parts.ts'
import { restore } from '../service/backup/restore.ts'
import type { Config } from '../service/settings/config.ts'
import type { Log } from '../store/log.ts'
import { StartError } from '../store/start-error.ts'
import { packageVersion } from '../store/version.ts'
import { backupSummary } from './backup.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { printJson, printText, type Streams } from './output.ts'

const restoreHelp = `
The service must not run. DATA_DIR has to be empty or not to exist, and so has the database at DATABASE_URL, if it is set.

Example:
  DATA_DIR=/var/lib/barograph barograph restore /backups/2026-11-22`

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
