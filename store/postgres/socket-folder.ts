/** The folder of the managed PostgreSQL's Unix socket. Users who can open it may connect with the password. */

import { hash } from 'node:crypto'
import { chownSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { StartError } from '../start-error.ts'
import type { SystemUser } from './postgres-user.ts'

/** The number only names the socket. No TCP port is opened. */
export const socketPort = 5432

/** A path has to fit into `sun_path`, with a zero at its end (unix(7)). It is 104 bytes on BSD and macOS. */
const socketPathBytesMax = process.platform === 'linux' ? 107 : 103
const shortRoot = '/tmp'

export interface SocketFolder {
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
