/** Whether jars in the cache are the pinned ones. */

import { createHash } from 'node:crypto'
import {
  createReadStream,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** Cheap when the recorded sizes and times still fit; else the digest decides. */
export async function isVerified(path: string, sha256: string): Promise<boolean> {
  if (!existsSync(path)) return false
  const recordPath = `${path}.verified`
  if (existsSync(recordPath) && readFileSync(recordPath, 'utf8') === recordOf(path, sha256)) return true
  if ((await digestOf(path)) !== sha256) return false
  recordVerified(path, sha256)
  return true
}

/** In a cache that others have filled we may only read; then each start computes the digest, which takes 0.1 s. */
export function recordVerified(path: string, sha256: string): void {
  const temporary = `${path}.verified-${process.pid}`
  try {
    writeFileSync(temporary, recordOf(path, sha256))
    renameSync(temporary, `${path}.verified`)
  } catch {
    rmSync(temporary, { force: true })
  }
}

/** SHA-256 of a file; of a folder, over the lines `name sha256` of its files by name. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  if (statSync(path).isDirectory()) {
    for (const name of readdirSync(path).sort()) hash.update(`${name} ${await digestOf(join(path, name))}\n`)
  } else {
    await pipeline(createReadStream(path), hash)
  }
  return hash.digest('hex')
}

function recordOf(path: string, sha256: string): string {
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .sort()
        .map(name => join(path, name))
    : [path]
  const states = files.map(file => statSync(file)).map(({ size, mtimeMs }) => `${size} ${mtimeMs}`)
  return `${sha256} ${states.join(' ')}\n`
}
