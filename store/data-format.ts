/**
 * The format of a data directory: of the journals, their checkpoints and stamps, and of the tables in QuestDB. It is in a file of
 * the directory, so that a version that is too old says so before it touches anything: a newer journal would look
 * damaged to it. PostgreSQL has its migrations.
 */

import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from './start-error.ts'
import { syncFolder } from './sync-folder.ts'

/** Raised by what the version before cannot read; that one is to be read for ever. */
const dataFormat = 2
const formatName = 'format'
const bytesMax = 1000

interface Format {
  format: number
  /** Of the service that was the last to start here. */
  version: string
}

/** Marks the directory as one of this version. Throws a StartError for one of a newer format, which stays as it is. */
export function takeFormat(root: string, version: string): void {
  const path = join(root, formatName)
  const found = readFormat(path)
  if (found !== undefined && found.format > dataFormat) {
    throw new StartError(
      `The data directory ${root} has format ${found.format} of Barograph ${found.version}, and this is Barograph ${version}, ` +
        `which knows formats up to ${dataFormat}: start that version or a later one (docs/upgrading.md).`,
    )
  }
  if (found?.format === dataFormat && found.version === version) return
  const format: Format = { format: dataFormat, version }
  const temporary = `${path}.new`
  writeFileSync(temporary, `${JSON.stringify(format)}\n`, { mode: 0o600, flush: true })
  renameSync(temporary, path)
  syncFolder(root)
}

/** Undefined for a directory that is new, or from before there was such a file, which is of the first format. */
function readFormat(path: string): Format | undefined {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? {}
  if (size === undefined) return undefined
  const format = size > bytesMax ? undefined : parse(readFileSync(path, 'utf8'))
  if (format !== undefined) return format
  throw new StartError(`The file ${path} is damaged: restore it, or the directory, from a backup.`)
}

function parse(text: string): Format | undefined {
  try {
    const { format, version } = JSON.parse(text)
    return Number.isSafeInteger(format) && format > 0 && isVersion(version) ? { format, version } : undefined
  } catch {
    return undefined
  }
}

function isVersion(version: unknown): version is string {
  return typeof version === 'string' && /^[0-9A-Za-z.+-]{1,64}$/.test(version)
}
