/** Runs the command of an operator that copies the files of QuestDB. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { BackupError } from '../service/backup/backup-error.ts'
import type { CommandContext } from './command-context.ts'

/** Of rsync: files vanished. The checkpoint keeps its own files, and QuestDB removes those of later versions. */
const vanished = 24

/** Rejects with a BackupError when it fails. */
export async function runCopy(
  { environment }: CommandContext,
  command: string,
  more: Record<string, string> = {},
): Promise<void> {
  // Standard output is the command's own, as for --json.
  const child = spawn('sh', ['-c', command], { env: { ...environment, ...more }, stdio: ['ignore', 2, 2] })
  const [status] = await once(child, 'close')
  if (status !== 0 && status !== vanished)
    throw new BackupError(`The command that copies QuestDB has ended with status ${status}.`)
}
