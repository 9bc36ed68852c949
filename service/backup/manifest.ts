/**
 * Reads and writes the manifest, which lists the contents of a backup. It is written last, so an interrupted backup has
 * none.
 *
 * Lines of JSON: the head, then `[path, bytes, sha256]` for each file. The last line has the number of files and the
 * SHA-256 of all previous lines, which reveals cut or changed manifests.
 */

import { createHash } from 'node:crypto'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { syncFolder } from '../../store/sync-folder.ts'
import { BackupError } from './backup-parts.ts'
import type { FileEntry } from './copy.ts'

export const manifestName = 'manifest'

/** A backup of ten years has some hundred thousand files, with some 150 bytes each. */
const bytesMax = 256 * 1024 ** 2

export interface Manifest {
  head: ManifestHead
  files: FileEntry[]
}

/** Throws a BackupError rather than write one that no restore would read. */
export function writeManifest(folder: string, { head, files }: Manifest): void {
  const lines = [head, ...files.map(({ path, bytes, sha256 }) => [path, bytes, sha256])]
  const text = lines.map(line => `${JSON.stringify(line)}\n`).join('')
  const temporary = join(folder, `${manifestName}.new`)
  const end = JSON.stringify({ files: files.length, sha256: digest(text) })
  const bytes = Buffer.from(`${text}${end}\n`)
  if (bytes.length > bytesMax) throw new BackupError(`The manifest would have more than ${bytesMax} bytes.`)
  writeFileSync(temporary, bytes, { mode: 0o600, flush: true })
  renameSync(temporary, join(folder, manifestName))
  syncFolder(folder)
}

/** Throws a BackupError unless it is a complete, unchanged manifest of this version or an older one. */
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
  const head = readHead(folder, first)
  const files = rest.map((line, at) => {
    const [path, bytes, sha256] = readLine(folder, FileLine, line, at + 2)
    return { path, bytes, sha256 }
  })
  const fault = faultOf({ head, files })
  if (fault !== undefined) throw invalid(folder, fault)
  return { head, files }
}

function readHead(folder: string, line: string): ManifestHead {
  const writer = readLine(folder, WriterOfHead, line, 1)
  if (writer.format > formatVersion) {
    throw new BackupError(`The backup is of the newer version ${writer.version}: restore it with that version.`)
  }
  return readLine(folder, ManifestHead, line, 1)
}

function readLine<Schema extends z.ZodType>(
  folder: string,
  schema: Schema,
  line: string,
  number: number,
): z.infer<Schema> {
  const read = schema.safeParse(parseJson(line))
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw invalid(folder, `line ${number}: ${[...(issue?.path ?? []), issue?.message].join(' ')}`)
}

/** Returns faults across lines, or undefined. */
function faultOf({ head: { postgres }, files }: Manifest): string | undefined {
  const paths = files.map(({ path }) => path)
  const tables = postgres.tables.map(({ name }) => name)
  const twice = firstTwice(paths) ?? firstTwice(tables) ?? firstTwice(postgres.sequences.map(({ name }) => name))
  if (twice !== undefined) return `${twice} is named twice`
  const rowsOf = new Set(tables.map(name => `postgres/${name}`))
  const stray = paths.find(path => path.startsWith('postgres/') && !rowsOf.delete(path))
  if (stray !== undefined) return `${stray} belongs to no table`
  const [missing] = rowsOf
  return missing === undefined ? undefined : `${missing} is missing`
}

function firstTwice(names: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return names.find(name => seen.size === seen.add(name).size)
}

function invalid(folder: string, fault: string): BackupError {
  return new BackupError(`The manifest in ${folder} is invalid (${fault}): use another backup.`)
}

function readText(file: string): string {
  try {
    if (statSync(file).size > bytesMax) throw new BackupError(`${file} is larger than any manifest.`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    if (code !== 'ENOENT') throw new BackupError(`${file} cannot be read (${code}).`)
    throw new BackupError(`There is no ${file}: this is not a backup, or one that was cut short.`)
  }
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

export const formatVersion = 1

/** Folders of the parts; nothing else is ever written. */
export const partNames = ['journal', 'points-journal', 'questdb', 'postgres', 'secrets'] as const

const identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be the name of a table or a column')
const version = z.string().regex(/^\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][0-9A-Za-z.+-]{1,50})?$/, 'must be a version')
const databaseVersion = z.string().max(100)

const tablesMax = 1000
const columnsMax = 1600
/** Some 270 years. */
const daysMax = 100_000
const migrationsMax = 1000
/** Two topics of each of 32 replicas. */
const topicsMax = 64
const sequenceMax = 9_223_372_036_854_775_807n

/** Day, number of rows, and sum of each column. */
const DaySums = z
  .array(z.string().max(40).nullable())
  .min(2)
  .max(columnsMax)
  .refine(([, rows]) => /^\d{1,19}$/.test(rows ?? ''), 'must have a number of rows')

const Table = z.object({
  name: identifier,
  columns: z.array(identifier).min(1).max(columnsMax),
  rows: z.int().min(0),
})

const Sequence = z.object({
  name: identifier,
  value: z.string().refine(isSequenceValue, 'must be from 1 to 2^63 - 1'),
  isCalled: z.boolean(),
})

export const ManifestHead = z.object({
  format: z.literal(formatVersion),
  version,
  createdAt: z.iso.datetime(),
  questdb: z.object({
    version: databaseVersion,
    days: z
      .record(identifier, z.array(DaySums).max(daysMax))
      .refine(days => Object.keys(days).length <= tablesMax, `must have at most ${tablesMax} tables`),
  }),
  postgres: z.object({
    version: databaseVersion,
    migrations: z.array(z.string().max(100)).min(1).max(migrationsMax),
    tables: z.array(Table).max(tablesMax),
    sequences: z.array(Sequence).max(tablesMax),
    /** Erase jobs that ended while the backup was made. */
    eraseAgain: z.array(z.int().min(1)).max(1_000_000),
  }),
  /** Only services with Kafka have topics. QuestDB may lack records of a topic from the offset on. */
  topics: z
    .array(z.object({ name: z.string().min(1).max(249), offset: z.int().min(0) }))
    .max(topicsMax)
    .optional(),
})
export type ManifestHead = z.infer<typeof ManifestHead>

/** Common part of the heads of all formats. */
const WriterOfHead = z.object({ format: z.int().min(1), version })

const path = z.string().max(4096).refine(isPathOfPart, 'must be a path in one of the parts')
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
/** Path, length in bytes, and digest. */
const FileLine = z.tuple([path, z.int().min(0), sha256])
const EndLine = z.object({ files: z.int().min(0), sha256 })

function isSequenceValue(text: string): boolean {
  return /^\d{1,19}$/.test(text) && BigInt(text) >= 1n && BigInt(text) <= sequenceMax
}

function isPathOfPart(path: string): boolean {
  const [part, ...names] = path.split('/')
  const isPlain = (name: string) => name !== '' && name !== '.' && name !== '..' && !name.includes('\0')
  return partNames.some(name => name === part) && names.length > 0 && names.every(isPlain)
}
