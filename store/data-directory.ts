/** The one directory that holds all data: makes it, locks it against a second process, keeps the secrets made on first use. */

import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { takeFormat } from './data-format.ts'
import { lockDirectory, lockName } from './directory-lock.ts'
import { StartError } from './start-error.ts'
import { syncFolder } from './sync-folder.ts'
import { packageVersion } from './version.ts'

export interface DataDirectory {
  path: string
  journal: string
  /** Of the points. */
  pointsJournal: string
  questdb: string
  postgres: string
  secrets: string
  mail: string
  /** The secret of this name, made at its first use: 32 random bytes in hex, or what `make` gives. */
  secret(name: string, make?: () => string): string
  /** Gives the lock back. */
  close(): void
}

// The server of PostgreSQL may run as another user, who has to pass through the folders above its own.
const passableMode = 0o711
const privateMode = 0o700

/** There as long as a restore has not put everything in place. */
const restoreMarker = 'restore-unfinished'

/** For everybody but a restore, which begins by `beginRestore`. */
export function openDataDirectory(path: string): DataDirectory {
  const root = makeWritable(resolve(path))
  const close = lockDirectory(root)
  if (!existsSync(join(root, restoreMarker))) return openFolders(root, close)
  close()
  throw new StartError(
    `The data directory ${root} holds a restore that was interrupted: run barograph restore again, ` +
      'or set DATA_DIR to another directory.',
  )
}

export interface RestoreDirectory {
  directory: DataDirectory
  /** Removes what an interrupted restore has left. */
  clear(): void
  /** From now on a service starts in it. */
  finish(): void
  /** Removes all that was made, also what was there of an interrupted restore, and gives the lock back. */
  abandon(): void
}

/** Opens an empty directory, or one with a restore that was interrupted; leaves nothing in any other one. */
export function beginRestore(path: string): RestoreDirectory {
  assertRestorable(resolve(path))
  const made = missingFolders(resolve(path))
  const root = makeWritable(resolve(path))
  const close = lockDirectory(root)
  try {
    // It may have been filled while it was not locked.
    assertRestorable(root)
    const marker = join(root, restoreMarker)
    writeFileSync(marker, '', { flush: true })
    syncFolder(root)
    const directory = openFolders(root, close)
    const { journal, pointsJournal, questdb, postgres, secrets, mail } = directory
    return {
      directory,
      clear() {
        for (const folder of [journal, pointsJournal, questdb, postgres, secrets, mail]) emptyFolder(folder)
      },
      finish() {
        rmSync(marker)
        syncFolder(root)
      },
      abandon() {
        // The marker goes last but for the lock, so that what is left of a kill in between is still an interrupted restore.
        const names = readdirSync(root).filter(name => !isForeign(name) && name !== restoreMarker)
        for (const name of [...names, restoreMarker, lockName])
          rmSync(join(root, name), { recursive: true, force: true })
        close()
        removeIfEmpty(made)
      },
    }
  } catch (error) {
    close()
    throw error instanceof StartError ? error : notWritable(root, error)
  }
}

/** Of the home of the user of the service, which may be this folder: deploy/barograph.service. Maven and our cache of its jars. */
const homeNames = ['.cache', '.m2']
/** Neither data nor in the way of a restore. */
const isForeign = (name: string) => name.startsWith(lockName) || homeNames.includes(name)

function assertRestorable(root: string): void {
  const names = namesIn(root)
  if (names.includes(restoreMarker) || names.every(isForeign)) return
  throw new StartError(`The data directory ${root} is not empty: set DATA_DIR to a new or an empty directory.`)
}

/** None of a folder that is not there. */
function namesIn(root: string): string[] {
  try {
    return readdirSync(root)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw notWritable(root, error)
  }
}

/** The folder and those above it that are not there, from the innermost one. */
function missingFolders(path: string): string[] {
  return existsSync(path) ? [] : [path, ...missingFolders(dirname(path))]
}

function removeIfEmpty(folders: readonly string[]): void {
  try {
    for (const folder of folders) rmdirSync(folder)
  } catch (error) {
    // Somebody else uses one of them by now.
    if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'ENOENT') throw error
  }
}

function emptyFolder(path: string): void {
  for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true })
}

function openFolders(root: string, close: () => void): DataDirectory {
  try {
    takeFormat(root, packageVersion())
    const folder = (name: string, mode: number): string => makeFolder(join(root, name), mode)
    const folders = {
      journal: folder('journal', privateMode),
      pointsJournal: folder('points-journal', privateMode),
      questdb: folder('questdb', privateMode),
      postgres: folder('postgres', passableMode),
      secrets: folder('secrets', privateMode),
      mail: folder('mail', privateMode),
    }
    // A journal whose files are synced is lost all the same when its folder has no durable name.
    syncFolder(root)
    const { secrets } = folders
    return {
      path: root,
      ...folders,
      secret: (name, make = randomSecret) => readOrMakeSecret(secrets, name, make),
      close,
    }
  } catch (error) {
    close()
    throw error instanceof StartError ? error : notWritable(root, error)
  }
}

function makeWritable(path: string): string {
  try {
    makeWithParents(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    return realpathSync(path)
  } catch (error) {
    throw notWritable(path, error)
  }
}

/**
 * Sets the mode of what it makes and of nothing else: folders that were there are their owner's business. Node's own
 * recursive mkdir never comes back where a system folder answers ENOENT (seen on /proc with 24.21).
 */
function makeWithParents(path: string): void {
  if (existsSync(path)) return
  makeWithParents(dirname(path))
  try {
    mkdirSync(path)
    chmodSync(path, passableMode)
    syncFolder(dirname(path))
  } catch (error) {
    // Another process may have been quicker; the lock decides between the two.
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

function makeFolder(path: string, mode: number): string {
  mkdirSync(path, { recursive: true })
  // mkdir's own mode is cut by the umask.
  chmodSync(path, mode)
  return path
}

function randomSecret(): string {
  return randomBytes(32).toString('hex')
}

function readOrMakeSecret(folder: string, name: string, make: () => string): string {
  if (!/^[a-z0-9][a-z0-9.-]*$/.test(name)) throw new Error(`no name for a secret: ${name}`)
  const path = join(folder, name)
  const known = readIfThere(path)
  if (known !== undefined) {
    if (known === '')
      throw new StartError(`The secret ${path} is empty: restore it, or remove the file to create a new one.`)
    return known
  }
  const secret = make()
  // On disk before its first use: a database that was made with a password has to be opened with it for ever.
  const temporary = `${path}.new`
  writeFileSync(temporary, `${secret}\n`, { mode: 0o600, flush: true })
  renameSync(temporary, path)
  syncFolder(folder)
  return secret
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new StartError(`The secret ${path} cannot be read (${codeOf(error)}): grant this user read permission.`)
  }
}

function notWritable(path: string, error: unknown): StartError {
  return new StartError(
    `The data directory ${path} is not writable (${codeOf(error)}): ` +
      'grant this user write permission, or set DATA_DIR to another directory.',
  )
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
