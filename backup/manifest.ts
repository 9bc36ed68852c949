/**
 * The manifest: what a backup consists of. It is written last, so a backup that was cut short has none.
 *
 * Lines of JSON: the head, then `[path, bytes, sha256]` for each file, then the number of files and the SHA-256 of all lines
 * before, so that nothing of the manifest itself can be cut off or changed unseen.
 */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { syncFolder } from '../store/sync-folder.ts'
import { BackupError } from './backup-error.ts'
import type { FileEntry } from './copy.ts'

export const manifestName = 'manifest'
export const formatVersion = 1
const bytesMax = 512 * 1024 ** 2

const identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/)

/** The day, its number of rows, and the sum of each column. */
const DaySums = z.array(z.string().nullable())

const ManifestHead = z.object({
  format: z.literal(formatVersion),
  /** Of the service. */
  version: z.string(),
  createdAt: z.iso.datetime(),
  questdb: z.object({ version: z.string(), days: z.record(identifier, z.array(DaySums)) }),
  postgres: z.object({
    version: z.string(),
    migrations: z.array(z.string()).min(1),
    tables: z.array(z.object({ name: identifier, columns: z.array(identifier), rows: z.int().min(0) })),
    sequences: z.array(z.object({ name: identifier, value: z.string().regex(/^\d{1,19}$/), isCalled: z.boolean() })),
    /** Erase jobs that ended while the backup was made. */
    eraseAgain: z.array(z.int()),
  }),
})
export type ManifestHead = z.infer<typeof ManifestHead>

export interface Manifest {
  head: ManifestHead
  files: FileEntry[]
}

const path = z.string().max(4096).refine(isPathOfPart, 'is no path of a part')
const FileLine = z.tuple([path, z.int().min(0), z.string().regex(/^[0-9a-f]{64}$/)])
const EndLine = z.object({ files: z.int(), sha256: z.string() })

export function writeManifest(folder: string, { head, files }: Manifest): void {
  const lines = [head, ...files.map(({ path, bytes, sha256 }) => [path, bytes, sha256])]
  const text = lines.map(line => `${JSON.stringify(line)}\n`).join('')
  const temporary = join(folder, `${manifestName}.new`)
  const end = JSON.stringify({ files: files.length, sha256: digest(text) })
  writeFileSync(temporary, `${text}${end}\n`, { mode: 0o600, flush: true })
  renameSync(temporary, join(folder, manifestName))
  syncFolder(folder)
}

/** Throws a BackupError for anything that is not a whole, unchanged manifest of this version or an older one. */
export function readManifest(folder: string): Manifest {
  const text = readText(join(folder, manifestName))
  const endAt = text.lastIndexOf('\n', text.length - 2) + 1
  const end = EndLine.safeParse(parseJson(text.slice(endAt)))
  const lines = text.slice(0, endAt)
  const [first = '', ...rest] = lines.trimEnd().split('\n')
  const isWhole = text.endsWith('\n') && end.success && end.data.files === rest.length
  if (!isWhole || digest(lines) !== end.data.sha256) {
    throw new BackupError(`The manifest in ${folder} was cut short or changed: use another backup.`)
  }
  const head = readHead(first)
  const files = rest.map(line => {
    const [path, bytes, sha256] = FileLine.parse(parseJson(line))
    return { path, bytes, sha256 }
  })
  return { head, files }
}

function readHead(line: string): ManifestHead {
  const value = parseJson(line)
  const format = z.object({ format: z.int(), version: z.string() }).parse(value)
  if (format.format > formatVersion) {
    throw new BackupError(`The backup is of the newer version ${format.version}: restore it with that version.`)
  }
  return ManifestHead.parse(value)
}

function readText(file: string): string {
  if (!existsSync(file)) throw new BackupError(`There is no ${file}: this is no backup, or one that was cut short.`)
  if (statSync(file).size > bytesMax) throw new BackupError(`${file} is larger than any manifest.`)
  return readFileSync(file, 'utf8')
}

/** The folders of the parts; nothing else is ever written. */
export const partNames = ['journal', 'points-journal', 'questdb', 'postgres', 'secrets'] as const

function isPathOfPart(path: string): boolean {
  const [part, ...names] = path.split('/')
  const isPlain = (name: string) => name !== '' && name !== '.' && name !== '..' && !name.includes('\0')
  return partNames.some(name => name === part) && names.length > 0 && names.every(isPlain)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
