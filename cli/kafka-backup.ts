/** Backup and restore of a service with Kafka: the command asks PostgreSQL, Kafka and QuestDB themselves, by the settings. */

import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type pg from 'pg'
import { BackupError } from '../service/backup/backup-error.ts'
import { backUpTopics } from '../service/backup/topics-backup.ts'
import { type RestoredTopics, restoreTopics } from '../service/backup/topics-restore.ts'
import type { Log } from '../store/log.ts'
import { QuestdbError } from '../store/questdb/client/questdb-error.ts'
import { StartError } from '../store/start-error.ts'
import { packageVersion } from '../store/version.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitInterrupted } from './command-error.ts'
import { createInterrupt } from './interrupt.ts'
import { lockAlone } from './lock-alone.ts'
import { printText } from './output.ts'
import { runCopy } from './run-copy.ts'
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
  const lock = await lockAlone(config, error => lost.abort(error))
  try {
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
    await lock.close()
  }
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
