/** Stores archived files in a folder or in an S3 bucket. */

import { createReadStream } from 'node:fs'
import { copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { syncFolder } from '../../../store/sync-folder.ts'

export interface ArchiveTarget {
  /** Shown in messages; contains no secrets. */
  readonly name: string
  /** Resolves when the file is complete and durable. */
  put(key: string, path: string, sha256: string): Promise<void>
  /** Undefined for a missing file. */
  get(key: string): Promise<Readable | undefined>
  /** Lists the keys below a folder, whose name ends with a slash. */
  list(folder: string): Promise<string[]>
  /** Succeeds for a missing file, too. */
  remove(key: string): Promise<void>
}

/** The folder must exist: a missing mount must not look like an empty archive. */
export function openFolder(url: URL): ArchiveTarget {
  const base = fileURLToPath(url)
  const pathOf = (key: string) => join(base, key)
  return {
    name: url.href,
    async put(key, path) {
      const [to, folder] = [pathOf(key), dirname(pathOf(key))]
      await makeFolders(base, folder)
      const unfinished = `${to}.part`
      try {
        await copyFile(path, unfinished)
        const file = await open(unfinished, 'r+')
        await file.sync().finally(() => file.close())
        await rename(unfinished, to)
        syncFolder(folder)
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => undefined)
        throw error
      }
    },
    async get(key) {
      const file = await open(pathOf(key)).catch(ignoreMissing)
      return file === undefined ? undefined : createReadStream('', { fd: file })
    },
    async list(folder) {
      await open(base).then(file => file.close())
      const names = (await readdir(pathOf(folder)).catch(ignoreMissing)) ?? []
      return names.map(name => `${folder}${name}`)
    },
    async remove(key) {
      await rm(pathOf(key), { force: true })
      syncFolder(dirname(pathOf(key)))
    },
  }
}

async function makeFolders(base: string, folder: string): Promise<void> {
  if (folder === base || folder === '/') return
  await makeFolders(base, dirname(folder))
  const made = await mkdir(folder).then(
    () => true,
    error => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )
  if (made) syncFolder(dirname(folder))
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
