/** Secrets that all nodes of a service share: from a folder that an operator gives them, never made there. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDirectory } from './data-directory.ts'
import { StartError } from './start-error.ts'

/** What one node makes by them, another one has to read. */
export const sharedSecrets: ReadonlySet<string> = new Set([
  'session-secret',
  'token-secret',
  'tenant-key',
  'service-secret',
  'state-secret',
  'csrf-secret',
])

/** The data directory, with these secrets from `folder` (SECRETS_DIR) where one is given. */
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
        ? `The secret ${path} is missing: make it with "openssl rand -hex 32", the same for all nodes.`
        : `The secret ${path} cannot be read (${code}): grant this user read permission.`,
    )
  }
  if (text === '') throw new StartError(`The secret ${path} is empty: make it with "openssl rand -hex 32".`)
  return text
}
