/** Prepares the folder of a new backup. Only its owner may read it, because it will have secrets. */

import { chmodSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { syncFolder } from '../../store/sync-folder.ts'
import { BackupError } from './backup-error.ts'
import { manifestName } from './manifest.ts'
import { partNames } from './manifest-lines.ts'

/** Reasons by error code of the operating system. */
const reasons = new Map([
  ['ENOENT', 'its parent folder does not exist'],
  ['EACCES', 'the user of the service has no write permission'],
  [
    'EROFS',
    'the service may only read there; under systemd, ReadWritePaths of its unit names the folders that it may write',
  ],
])

function reasonOf(error: NodeJS.ErrnoException): string {
  return reasons.get(error.code ?? '') ?? error.code ?? String(error)
}

/** Creates the folder, or takes an empty one outside the data directory, and returns its real path. */
export function prepareTarget(path: string, dataDirectory: string | undefined): string {
  if (!isAbsolute(path)) throw new BackupError(`${path} is not an absolute path.`)
  try {
    const target = join(realpathSync(dirname(path)), basename(path))
    const below = dataDirectory === undefined ? '..' : relative(realpathSync(dataDirectory), target)
    if (!below.startsWith('..')) throw new BackupError(`${path} is in the data directory: give another folder.`)
    makeEmpty(target)
    return target
  } catch (error) {
    if (error instanceof BackupError) throw error
    throw new BackupError(`${path} cannot be made: ${reasonOf(error as NodeJS.ErrnoException)}.`)
  }
}

function makeEmpty(target: string): void {
  try {
    mkdirSync(target, { mode: 0o700 })
    syncFolder(dirname(target))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (readdirSync(target).length > 0) throw new BackupError(`${target} is not empty: give a new or an empty folder.`)
    chmodSync(target, 0o700)
  }
}

/** Removes the files of a failed backup. The folder was empty before. */
export function clearTarget(target: string): void {
  for (const name of [...partNames, `${manifestName}.new`]) rmSync(join(target, name), { recursive: true, force: true })
}
