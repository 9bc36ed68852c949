/** Opens the way of readings on the journal of the data directory, or says in a sentence why it cannot be opened. */

import { type Ingest, openIngest } from '../ingest/ingest.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import { StartError } from '../store/start-error.ts'
import type { Config } from './config.ts'
import type { Log } from './log.ts'

export interface OwnIngestOptions {
  config: Config
  directory: Pick<DataDirectory, 'journal'>
  nowUs: () => number
  log: Log
  onFatal: (error: Error) => void
}

const hourMs = 3_600_000

export function openOwnIngest({ config, directory, nowUs, log, onFatal }: OwnIngestOptions): Ingest {
  try {
    return openIngest({
      directory: directory.journal,
      journalBytesMax: config.JOURNAL_MAX,
      reserveBytes: config.JOURNAL_RESERVE,
      keepMs: config.JOURNAL_KEEP_HOURS * hourMs,
      nowUs,
      log,
      faults: config.faults?.ingest,
      onFatal,
    })
  } catch (error) {
    throw isSystemError(error) ? journalError(directory.journal, error) : error
  }
}

/** What the system refused; anything else is a fault of ours. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

const noRights = 'give this user the right to read and write there.'
const remedies: Record<string, string> = {
  ENOSPC: 'make room on its disk.',
  EDQUOT: "make room within this user's quota.",
  EROFS: 'its file system is mounted read-only; mount it for writing.',
  EACCES: noRights,
  EPERM: noRights,
}

function journalError(path: string, { code = '', message }: NodeJS.ErrnoException): StartError {
  const remedy = remedies[code] ?? 'look at this file and at its disk. The readings in the journal are kept.'
  return new StartError(`The journal in ${path} cannot be opened (${message}): ${remedy}`)
}
