/** PostgreSQL refuses to run as root. A service run by root starts it as the user `postgres`, who must reach its files. */

import { hash } from 'node:crypto'
import { chownSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Environment, runProgram } from '../process/find-program.ts'
import { StartError } from '../start-error.ts'

export interface SystemUser {
  uid: number
  gid: number
}

const userName = 'postgres'
const runTimeoutMs = 10_000

/** Undefined when the service is not run by root: PostgreSQL then runs as the same user. */
export async function postgresUser(environment: Environment): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  return (await findUser(environment)) ?? makeUser(environment)
}

async function findUser(environment: Environment): Promise<SystemUser | undefined> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(flag => runProgram('id', [flag, userName], { environment, timeoutMs: runTimeoutMs })),
  )
  if (uid === undefined || gid === undefined || !uid.ok || !gid.ok) return undefined
  return { uid: Number(uid.output), gid: Number(gid.output) }
}

async function makeUser(environment: Environment): Promise<SystemUser> {
  const args = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', userName]
  const made = await runProgram('useradd', args, { environment, timeoutMs: runTimeoutMs })
  const user = await findUser(environment)
  if (user !== undefined) return user
  throw new StartError(
    `PostgreSQL does not run as root, and the user "${userName}" could not be created (${made.output.trim()}): ` +
      'create it, start as another user, or set DATABASE_URL to a running PostgreSQL.',
  )
}

/** Checks as that user, so that access lists count too. */
export async function assertReachable(paths: readonly string[], user: SystemUser): Promise<void> {
  const folders = [...new Set(paths.flatMap(pathAndParents))]
  const script = 'for folder; do [ -x "$folder" ] || { echo "$folder"; exit; }; done'
  const { output } = await runProgram('/bin/sh', ['-c', script, 'sh', ...folders], {
    environment: {},
    timeoutMs: runTimeoutMs,
    user,
  })
  const closed = output.trim()
  if (closed === '') return
  throw new StartError(
    `PostgreSQL runs as the user "${userName}", who cannot access ${closed}: allow it (chmod o+x ${closed}), ` +
      'move DATA_DIR or the program to another directory, start as a user other than root, or set DATABASE_URL to a running PostgreSQL.',
  )
}

/** The root is first, so that the first inaccessible folder is the one to open. */
function pathAndParents(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [...pathAndParents(parent), path]
}

/** The number only names the socket. No TCP port is opened. */
export const socketPort = 5432

/** A path has to fit into `sun_path`, with a zero at its end (unix(7)). It is 104 bytes on BSD and macOS. */
const socketPathBytesMax = process.platform === 'linux' ? 107 : 103
const shortRoot = '/tmp'

interface SocketFolder {
  path: string
  remove(): void
}

/**
 * Returns `socket` in the cluster's folder, or a link of that name to a short path where its own is too long for a socket. Files
 * of an earlier server are removed, including lock files: their pids may belong to other processes now.
 */
export function makeSocketFolder(clusterFolder: string, user: SystemUser | undefined): SocketFolder {
  const name = join(clusterFolder, 'socket')
  const short = join(shortRoot, `barograph-${hash('sha256', clusterFolder).slice(0, 12)}-`)
  removeFolder(name, short)
  const isShortEnough = Buffer.byteLength(join(name, `.s.PGSQL.${socketPort}`)) <= socketPathBytesMax
  const path = isShortEnough ? name : makeShort(short, name)
  if (isShortEnough) mkdirSync(path, { mode: 0o700 })
  else symlinkSync(path, name)
  if (user !== undefined) chownSync(path, user.uid, user.gid)
  return { path, remove: () => removeFolder(name, short) }
}

/** Quotes it for the setting `unix_socket_directories`, a list: in quotes, a comma is part of a path. */
export function quoteSocketFolder(path: string): string {
  return `"${path.replaceAll('"', '""')}"`
}

/** Has mode 0700 and a random suffix, so that another user cannot have created it in advance. */
function makeShort(prefix: string, name: string): string {
  try {
    return mkdtempSync(prefix)
  } catch (error) {
    throw new StartError(
      `The path ${name} is too long for a Unix socket, and a shorter one cannot be created in ${shortRoot} ` +
        `(${(error as NodeJS.ErrnoException).code}): move DATA_DIR to a shorter path, or make ${shortRoot} writable.`,
    )
  }
}

/** A link in a copied data directory points to the original's folder, whose server may be running. */
function removeFolder(name: string, short: string): void {
  const target = linkTarget(name)
  const isOurs = target !== undefined && dirname(target) === shortRoot && basename(target).startsWith(basename(short))
  if (isOurs) rmSync(target, { recursive: true, force: true })
  rmSync(name, { recursive: true, force: true })
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
