/** Backup and restore of several shards: the command asks PostgreSQL, Kafka and the QuestDBs themselves, by the settings. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type pg from 'pg'
import { BackupError } from '../backup/backup-error.ts'
import { type RestoredShards, restoreShards } from '../backup/restore-shards.ts'
import { backUpShards } from '../backup/shards-backup.ts'
import { readPlacement } from '../ingest/kafka/placement-rows.ts'
import { topicsOfShards } from '../ingest/kafka/topic-names.ts'
import { shardCountOf } from '../placement/added-shard.ts'
import type { Log } from '../store/log.ts'
import { QuestdbError } from '../store/questdb/client/questdb-error.ts'
import { StartError } from '../store/start-error.ts'
import { packageVersion } from '../store/version.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitInterrupted } from './command-error.ts'
import { createInterrupt } from './interrupt.ts'
import { withKafka } from './kafka.ts'
import { lockAlone } from './lock-alone.ts'
import { printText } from './output.ts'
import { shardAddresses } from './shard-addresses.ts'
import { withPostgres } from './with-postgres.ts'

export interface BackedUpShards {
  shards: number
  files: number
  bytes: number
}

/** `copyCommand`: for the shell, run for each shard with SHARD and FOLDER in its environment. */
export async function backUpAllShards(
  context: CommandContext,
  folder: string,
  copyCommand: string,
): Promise<BackedUpShards> {
  const config = context.readSettings()
  const interrupt = createInterrupt()
  try {
    const backUp = async (postgres: pg.Client): Promise<BackedUpShards> => {
      const shards = shardCountOf(await readPlacement(postgres))
      const done = await backUpShards({
        folder: resolve(folder),
        postgres,
        ends: await topicEnds(context, shards),
        questdbs: shardAddresses(config, shards).map(({ http }) => http),
        copyQuestdb: (shard, to) => runCopy(context, copyCommand, shard, to),
        secrets: config.SECRETS_DIR,
        version: packageVersion(),
        signal: interrupt.signal,
        onStep: step => printText(context.streams.stderr, `${step}\n`),
        log: logTo(context),
      })
      return { shards, ...done }
    }
    return await withPostgres(config, backUp, { takesLong: true })
  } catch (error) {
    if (interrupt.signal.aborted) throw new CommandError('interrupted; nothing of the backup is left', exitInterrupted)
    throw commandError(error)
  } finally {
    interrupt.stop()
  }
}

async function topicEnds(context: CommandContext, shards: number): Promise<Map<string, number>> {
  return await withKafka(context, async (kafka, { topicPrefix }) => {
    const ends = new Map<string, number>()
    for (const topic of topicsOfShards(topicPrefix, shards)) {
      const partition = await kafka.partition(topic)
      const { end } = await partition.offsets().finally(() => partition.close())
      ends.set(topic, end)
    }
    return ends
  })
}

async function runCopy({ environment }: CommandContext, command: string, shard: number, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Standard output is the command's own, as for --json.
  const child = spawn('sh', ['-c', command], {
    env: { ...environment, SHARD: String(shard), FOLDER: folder },
    stdio: ['ignore', 2, 2],
  })
  const [status] = await once(child, 'close')
  if (status === 0) return
  throw new BackupError(`The command that copies QuestDB of shard ${shard} has ended with status ${status}.`)
}

export async function restoreAllShards(context: CommandContext, folder: string): Promise<RestoredShards> {
  const config = context.readSettings()
  const { DATABASE_URL: databaseUrl } = config
  if (databaseUrl === undefined) throw new CommandError('DATABASE_URL is not set, and the rows go to that database')
  const lost = new AbortController()
  const lock = await lockAlone(config, error => lost.abort(error))
  try {
    const onStep = (step: string) => printText(context.streams.stderr, `${step}\n`)
    const log = logTo(context)
    const restored = await restoreShards({
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

function logTo({ streams: { stderr } }: CommandContext): Log {
  const tell = (_fields: unknown, text?: string) => printText(stderr, `${text ?? ''}\n`)
  return { info: () => undefined, warn: tell, error: tell } as Log
}

function commandError(error: unknown): unknown {
  const isTold = [BackupError, StartError, QuestdbError].some(kind => error instanceof kind)
  return isTold ? new CommandError((error as Error).message) : error
}
