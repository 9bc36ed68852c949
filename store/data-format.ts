/**
 * The format of a data directory: journals, checkpoints, stamps, and the tables in QuestDB. It stands in a file of the directory,
 * so that a version that is too old stops before it changes anything: a newer journal would look damaged to it. PostgreSQL has its
 * migrations.
 */

import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from './start-error.ts'
import { syncFolder } from './sync-folder.ts'

/** Increase it for a change that the previous version cannot read. Every older format stays readable forever. */
const dataFormat = 2
const formatName = 'format'
const bytesMax = 1000

interface Format {
  format: number
  /** Version of the service that last started here. */
  version: string
}

/** Marks the directory as used by this version. Throws a StartError for a newer format and leaves that directory unchanged. */
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

/** Undefined for a new directory, or for one of the first format, which had no such file. */
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
