/** PostgreSQL refuses to run as root. A service run by root starts it as the user `postgres`, who must reach its files. */

import { dirname } from 'node:path'
import { type Environment, runProgram } from '../process/find-program.ts'
import { StartError } from '../start-error.ts'

export interface SystemUser {
  uid: number
  gid: number
}

const systemUserName = 'postgres'
const runTimeoutMs = 10_000

/** Undefined when the service is not run by root: PostgreSQL then runs as the same user. */
export async function postgresUser(environment: Environment, name = systemUserName): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  return (await findUser(name, environment)) ?? makeUser(name, environment)
}

async function findUser(name: string, environment: Environment): Promise<SystemUser | undefined> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(flag => runProgram('id', [flag, name], { environment, timeoutMs: runTimeoutMs })),
  )
  if (uid === undefined || gid === undefined || !uid.ok || !gid.ok) return undefined
  return { uid: Number(uid.output), gid: Number(gid.output) }
}

async function makeUser(name: string, environment: Environment): Promise<SystemUser> {
  const args = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', name]
  const made = await runProgram('useradd', args, { environment, timeoutMs: runTimeoutMs })
  const user = await findUser(name, environment)
  if (user !== undefined) return user
  throw new StartError(
    `PostgreSQL does not run as root, and the user "${name}" could not be created (${made.output.trim()}): ` +
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
    `PostgreSQL runs as the user "${systemUserName}", who cannot access ${closed}: allow it (chmod o+x ${closed}), ` +
      'move DATA_DIR or the program to another directory, start as a user other than root, or set DATABASE_URL to a running PostgreSQL.',
  )
}

/** From the root down, so that the first inaccessible folder is the one to open. */
function pathAndParents(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [...pathAndParents(parent), path]
}
