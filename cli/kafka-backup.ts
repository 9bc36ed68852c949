/** Backup and restore of a service with Kafka: the command asks PostgreSQL, Kafka and QuestDB themselves, by the settings. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type pg from 'pg'
import { BackupError } from '../service/backup/backup-parts.ts'
import { backUpTopics } from '../service/backup/topics-backup.ts'
import { type RestoredTopics, restoreTopics } from '../service/backup/topics-restore.ts'
import type { Log } from '../store/log.ts'
import { type DatabaseLock, lockDatabase } from '../store/postgres/database-lock.ts'
import { connectFailure, makeClient } from '../store/postgres/postgres-connect.ts'
import { QuestdbError } from '../store/questdb/client/questdb-error.ts'
import { StartError } from '../store/start-error.ts'
import { packageVersion } from '../store/version.ts'
import { type CommandContext, createInterrupt } from './command-context.ts'
import { CommandError, exitInterrupted } from './command-error.ts'
import { printText } from './output.ts'
import { replicaAddress, topicEnds } from './with-kafka.ts'
import { withPostgres } from './with-postgres.ts'

interface BackedUp {
  files: number
  bytes: number
}

/** `copyCommand`: for the shell, with FOLDER in its environment. */
export async function backUpService(
  context: CommandContext,
  folder: string,
  { copyCommand, replica }: { copyCommand: string; replica: number },
): Promise<BackedUp> {
  const config = context.readSettings()
  const interrupt = createInterrupt()
  try {
    const backUp = async (postgres: pg.Client): Promise<BackedUp> => {
      return await backUpTopics({
        folder: resolve(folder),
        postgres,
        ends: await topicEnds(context, postgres),
        replica,
        questdb: replicaAddress(config, replica).http,
        copyQuestdb(to) {
          mkdirSync(to, { recursive: true, mode: 0o700 })
          return runCopy(context, copyCommand, { FOLDER: to })
        },
        secrets: config.SECRETS_DIR,
        version: packageVersion(),
        signal: interrupt.signal,
        onStep: step => printText(context.streams.stderr, `${step}\n`),
        log: logTo(context),
      })
    }
    return await withPostgres(config, backUp, { takesLong: true })
  } catch (error) {
    if (interrupt.signal.aborted) throw new CommandError('interrupted; nothing of the backup is left', exitInterrupted)
    throw commandError(error)
  } finally {
    interrupt.stop()
  }
}

export async function restoreService(context: CommandContext, folder: string): Promise<RestoredTopics> {
  const config = context.readSettings()
  const { DATABASE_URL: databaseUrl } = config
  if (databaseUrl === undefined) throw new CommandError('DATABASE_URL is not set, and the rows go to that database')
  const lost = new AbortController()
  let lock: DatabaseLock | undefined
  try {
    lock = await lockAlone(databaseUrl, error => lost.abort(error))
    const onStep = (step: string) => printText(context.streams.stderr, `${step}\n`)
    const log = logTo(context)
    const restored = await restoreTopics({
      folder: resolve(folder),
      databaseUrl,
      version: packageVersion(),
      onStep,
      log,
    })
    lost.signal.throwIfAborted()
    return restored
  } catch (error) {
    throw commandError(error)
  } finally {
    await lock?.close()
  }
}

/** Excludes any running service from the database. */
async function lockAlone(databaseUrl: string, onLost: (error: Error) => void): Promise<DatabaseLock> {
  const ignore = () => undefined
  let client: pg.Client | undefined
  try {
    return await lockDatabase({
      makeClient: name => (client = makeClient({ connectionString: databaseUrl, application_name: name })),
      mode: 'exclusive',
      onLost,
      log: { info: ignore, warn: ignore, error: ignore },
    })
  } catch (error) {
    if (error instanceof StartError || client === undefined) throw error
    throw new CommandError(connectFailure(client, true, error))
  }
}

/** Exit status of rsync when files vanished: QuestDB removes later versions of files that the checkpoint keeps. */
const vanished = 24

/** Runs the command of an operator that copies the files of QuestDB. Rejects with a BackupError when it fails. */
export async function runCopy(
  { environment }: CommandContext,
  command: string,
  more: Record<string, string> = {},
): Promise<void> {
  // Standard output is reserved for the output of this program, such as JSON.
  const child = spawn('sh', ['-c', command], { env: { ...environment, ...more }, stdio: ['ignore', 2, 2] })
  const [status] = await once(child, 'close')
  if (status !== 0 && status !== vanished)
    throw new BackupError(`The command that copies QuestDB has ended with status ${status}.`)
}

/** Prints warnings and errors as lines. */
export function logTo({ streams: { stderr } }: CommandContext): Log {
  const print = (_fields: unknown, text?: string) => printText(stderr, `${text ?? ''}\n`)
  return { info: () => undefined, warn: print, error: print } as Log
}

/** Reduces an error that an operator can mend to its message. */
export function commandError(error: unknown): unknown {
  const isMendable = [BackupError, StartError, QuestdbError].some(kind => error instanceof kind)
  return isMendable ? new CommandError((error as Error).message) : error
}
