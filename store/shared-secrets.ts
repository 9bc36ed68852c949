/** Secrets shared by all nodes of a service. They come from the operator's folder and are never generated there. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDirectory } from './data-directory.ts'
import { StartError } from './start-error.ts'

/** Values that one node signs or encrypts with these secrets must be readable by the others. */
export const sharedSecrets: ReadonlySet<string> = new Set([
  'session-secret',
  'token-secret',
  'tenant-key',
  'service-secret',
  'state-secret',
  'csrf-secret',
])

/** Returns the data directory with these secrets from `folder` (SECRETS_DIR), if set. */
export function withSharedSecrets<Directory extends Pick<DataDirectory, 'secret'>>(
  directory: Directory,
  folder: string | undefined,
): Directory {
  if (folder === undefined) return directory
  return {
    ...directory,
    secret: (name, make) => (sharedSecrets.has(name) ? readShared(join(folder, name)) : directory.secret(name, make)),
  }
}

function readShared(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new StartError(
      code === 'ENOENT'
        ? `The secret ${path} is missing: create it with "openssl rand -hex 32", the same for all nodes.`
        : `The secret ${path} cannot be read (${code}): grant this user read permission.`,
    )
  }
  if (text === '') throw new StartError(`The secret ${path} is empty: create it with "openssl rand -hex 32".`)
  return text
}
