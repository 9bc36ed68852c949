/** The directory with all data: created and locked here, with the secrets generated at first use. */

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
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { lockDirectory, lockName } from './directory-lock.ts'
import { StartError } from './start-error.ts'
import { syncFolder } from './sync-folder.ts'
import { packageVersion } from './version.ts'

export interface DataDirectory {
  path: string
  journal: string
  /** Journal of points. */
  pointsJournal: string
  questdb: string
  postgres: string
  secrets: string
  mail: string
  /** Returns the secret of this name. Its first use generates it: 32 random bytes in hex, or the result of `make`. */
  secret(name: string, make?: () => string): string
  /** Releases the lock. */
  close(): void
}

// PostgreSQL may run as another user, who has to traverse the parent folders.
const passableMode = 0o711
const privateMode = 0o700

/** Exists until a restore has put everything in place. */
const restoreMarker = 'restore-unfinished'

/** A restore uses `beginRestore` instead. */
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

interface RestoreDirectory {
  directory: DataDirectory
  /** Removes the files of an interrupted restore. */
  clear(): void
  /** Allows a service to start in the directory. */
  finish(): void
  /** Removes all created files and the files of an interrupted restore, and releases the lock. */
  abandon(): void
}

/** Opens an empty directory or one with an interrupted restore. Leaves any other directory unchanged. */
export function beginRestore(path: string): RestoreDirectory {
  assertRestorable(resolve(path))
  const made = missingFolders(resolve(path))
  const root = makeWritable(resolve(path))
  const close = lockDirectory(root)
  try {
    // Another process may have filled the directory before this one locked it.
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
        // The marker is removed last except for the lock: a process killed in between leaves an interrupted restore.
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

/** The directory may be the home of the service's user (deploy/barograph.service): Maven's folder and our cache of jars. */
const homeNames = ['.cache', '.m2']
/** Files that are not data and do not prevent a restore. */
const isForeign = (name: string) => name.startsWith(lockName) || homeNames.includes(name)

function assertRestorable(root: string): void {
  const names = namesIn(root)
  if (names.includes(restoreMarker) || names.every(isForeign)) return
  throw new StartError(`The data directory ${root} is not empty: set DATA_DIR to a new or an empty directory.`)
}

/** Empty for a missing folder. */
function namesIn(root: string): string[] {
  try {
    return readdirSync(root)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw notWritable(root, error)
  }
}

/** Returns the folder and its parents that do not exist, innermost first. */
function missingFolders(path: string): string[] {
  return existsSync(path) ? [] : [path, ...missingFolders(dirname(path))]
}

function removeIfEmpty(folders: readonly string[]): void {
  try {
    for (const folder of folders) rmdirSync(folder)
  } catch (error) {
    // Another process uses one of them now.
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
    // Synced journal files are lost on a power failure unless their folder's name is durable.
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
 * Sets the mode only of folders that it creates: existing ones belong to their owner. Node's recursive mkdir never returns where a
 * system folder answers ENOENT (seen on /proc with 24.21).
 */
function makeWithParents(path: string): void {
  if (existsSync(path)) return
  makeWithParents(dirname(path))
  try {
    mkdirSync(path)
    chmodSync(path, passableMode)
    syncFolder(dirname(path))
  } catch (error) {
    // Another process may have created the file first. The lock decides between the two.
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

function makeFolder(path: string, mode: number): string {
  mkdirSync(path, { recursive: true })
  // The umask reduces the mode that mkdir gets.
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
  // The secret is on disk before its first use: a database created with a password is opened with it forever.
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

/**
 * The format of journals, checkpoints, stamps and the tables in QuestDB. It is in a file of the directory, so that a version that is
 * too old stops before it changes anything: a newer journal would look damaged to it. Increase it for a change that the previous
 * version cannot read. Every older format stays readable forever.
 */
const dataFormat = 2
const formatName = 'format'
const bytesMax = 1000

interface Format {
  format: number
  /** Version of the service that last started here. */
  version: string
}

/** Marks the directory as used by this version. Throws a StartError for a newer format and leaves that directory unchanged. */
function takeFormat(root: string, version: string): void {
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
