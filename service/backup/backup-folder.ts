/** Prepares the folder of a new backup, and checks that a backup is complete and fit for this version. */

import { chmodSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { developmentVersion, migrationNames, migrationsFolder, withBaseline } from '../../store/postgres/migrations.ts'
import { syncFolder } from '../../store/sync-folder.ts'
import { BackupError } from './backup-parts.ts'
import { type Content, digestFile } from './copy.ts'
import { type Manifest, manifestName, partNames, readManifest } from './manifest.ts'

/** Reads every byte. Throws a BackupError for a file that is missing, added or changed. */
export function checkBackup(folder: string, version: string, onBytes: (count: number) => void): Manifest {
  const manifest = readManifest(folder)
  checkVersion(manifest, version)
  const wanted = new Map<string, Content>(manifest.files.map(file => [file.path, file]))
  for (const path of listFiles(folder, '')) {
    if (path === manifestName) continue
    if (!wanted.has(path)) throw new BackupError(`${join(folder, path)} does not belong to this backup: remove it.`)
  }
  for (const [path, content] of wanted) checkContent(folder, path, content, read(folder, path, onBytes))
  return manifest
}

/** Compares a file's content with the manifest. */
export function checkContent(folder: string, path: string, wanted: Content, found: Content): void {
  if (found.bytes === wanted.bytes && found.sha256 === wanted.sha256) return
  throw new BackupError(`${join(folder, path)} was changed or cut short: use another backup.`)
}

function read(folder: string, path: string, onBytes: (count: number) => void): Content {
  try {
    return digestFile(join(folder, path), onBytes)
  } catch (error) {
    throw new BackupError(`${join(folder, path)} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function checkVersion({ head }: Manifest, version: string): void {
  const known = migrationNames(migrationsFolder)
  const migrations = withBaseline(head.postgres.migrations)
  if (migrations === undefined) {
    throw new BackupError(
      `The backup is of an earlier development version: restore it with the last one (${developmentVersion}), ` +
        'start that once, and then this version (docs/upgrading.md).',
    )
  }
  const isKnown = migrations.every(name => known.includes(name))
  if (!isKnown || compareVersions(head.version, version) > 0) {
    throw new BackupError(`The backup is of the newer version ${head.version}: restore it with that version.`)
  }
  if (migrations.every((name, at) => name === known[at])) return
  throw new BackupError('The migrations in the manifest are out of order: use another backup.')
}

/** Compares three numbers and ignores suffixes. */
export function compareVersions(a: string, b: string): number {
  const [ours, theirs] = [a, b].map(text => text.split(/[.+-]/, 3).map(Number))
  const differences = (ours ?? []).map((number, at) => number - (theirs?.[at] ?? 0))
  return differences.find(difference => difference !== 0) ?? 0
}

/** Lists the paths of all files. Links and the like count as files, which no manifest has. */
function* listFiles(folder: string, below: string): Generator<string> {
  for (const entry of readFolder(join(folder, below))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) yield* listFiles(folder, path)
    else yield path
  }
}

function readFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    throw new BackupError(`${folder} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

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
