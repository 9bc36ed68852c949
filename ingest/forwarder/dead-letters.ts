/**
 * Dead letters: rows that QuestDB rejects as invalid, in their stored form. Each is a small file beside the journal,
 * named after its position in the journal: a repeated replay writes the same file again.
 */

import { open, readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Disk, DiskFile } from '../journal/disk.ts'
import {
  type CustomValue,
  eraseCustom,
  erasedCustom,
  layoutOf,
  offsetOf,
  type RecordFields,
  readRecord,
} from '../journal/record.ts'
import type { TableDescription } from '../table.ts'

export interface DeadLetter {
  /** Orders the dead letters of one table as their records in the journal. */
  id: number
  /** Time of the rejection, ISO 8601. */
  at: string
  reason: string
  /** Number of the series: of the device, or of the station's parameter. */
  series: number
  /** The symbols of the row, separated by blanks. */
  symbol: string
  /** Time of the row, ISO 8601 with microseconds, or the bare number when it is not a date. */
  time: string
  values: Record<string, number | null>
  /** Values without a column, by the numbers of their series. */
  further?: CustomValue[]
  /** The record as it was in the journal, base64. */
  record: string
}

/** An unreadable dead letter, which can only be discarded. */
interface DamagedLetter {
  id: number
  /** The name of its file, or the topic and the id in PostgreSQL. */
  name: string
  damage: string
}

export type ListedLetter = DeadLetter | DamagedLetter

export function isWhole(letter: ListedLetter): letter is DeadLetter {
  return !('damage' in letter)
}

/**
 * The forwarder of a table stops beyond this and reports an issue: this many rejections indicate a bug, not bad rows.
 */
export const deadLettersMax = 10_000

export function deadLetterOf(
  table: TableDescription,
  id: number,
  record: Uint8Array,
  reason: string,
  nowMs: number,
): DeadLetter {
  const fields = readRecord(table, viewOf(record), 0)
  return {
    id,
    at: new Date(nowMs).toISOString(),
    reason,
    series: fields.series,
    symbol: fields.symbols.join(' '),
    time: formatTimeUs(fields.timeUs),
    values: valuesOf(fields),
    ...customOf(fields),
    record: Buffer.from(record).toString('base64'),
  }
}

/**
 * Removes erased series from a dead letter, custom ones given as `erasedCustom` numbers. Returns undefined when its own series is
 * erased. Throws when its record is damaged.
 */
export function withoutErased(
  table: TableDescription,
  letter: DeadLetter,
  erased: Pick<ReadonlySet<number>, 'has'>,
): DeadLetter | 'unchanged' | 'nothing' {
  const { further, ...rest } = letter
  if (erased.has(letter.series)) return 'nothing'
  if (!further?.some(({ series }) => erased.has(erasedCustom(series)))) return 'unchanged'
  const record = recordOf(table, letter)
  const view = viewOf(record)
  eraseCustom(view, 0, number => erased.has(number))
  return { ...rest, ...customOf(readRecord(table, view, 0)), record: record.toString('base64') }
}

/** The record of a dead letter, for appending it again. Throws when it is damaged. */
export function recordOf(table: TableDescription, letter: Pick<DeadLetter, 'record'>): Buffer {
  const record = Buffer.from(letter.record, 'base64')
  const { kind, lengthMin } = layoutOf(table)
  const isWhole = record.length >= lengthMin && record.readUInt16LE(offsetOf.length) === record.length
  if (!isWhole || record[offsetOf.kind] !== kind) throw new Error(`it holds no record of ${table.name}`)
  return record
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Values that were not erased. */
function customOf(fields: RecordFields): Pick<DeadLetter, 'further'> {
  const further = fields.custom.filter(({ value }) => !Number.isNaN(value))
  return further.length === 0 ? {} : { further }
}

function valuesOf({ values }: RecordFields): Record<string, number | null> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number.isNaN(value) ? null : value]))
}

function formatTimeUs(timeUs: number): string {
  const date = new Date(Math.floor(timeUs / 1000))
  if (Number.isNaN(date.getTime())) return String(timeUs)
  const micros = String(((timeUs % 1000) + 1000) % 1000).padStart(3, '0')
  return date.toISOString().replace('Z', `${micros}Z`)
}

const filesAtOnce = 100

const letterName = /^dead-\d{16}\.json$/
const unfinishedName = /^dead-\d{16}\.json\.new$/
export const nameOf = (id: number) => `dead-${String(id).padStart(16, '0')}.json`
const idOf = (name: string) => Number(name.slice('dead-'.length, -'.json'.length))

/** Writes one record, durably. */
export function writeDeadLetter(
  table: TableDescription,
  disk: Disk,
  position: number,
  record: Uint8Array,
  reason: string,
  nowMs: number,
): void {
  disk.replace(nameOf(position), textOf(deadLetterOf(table, position, record, reason, nowMs)))
  disk.syncDirectory()
}

/**
 * Removes erased series from a dead letter, custom ones given as `erasedCustom` numbers. One of an erased series is removed; one
 * with an erased value is rewritten without it. The new file is synced before it replaces the old one. Removals and replacements
 * become durable when the directory is synced. `unchanged` for a dead letter without erased series, or a missing one; a damaged
 * one stays as it is.
 */
export function eraseFromLetter(
  table: TableDescription,
  disk: Disk,
  name: string,
  erased: ReadonlySet<number>,
): 'changed' | 'unchanged' | 'damaged' {
  const text = readText(disk, name)
  if (text === undefined) return 'unchanged'
  const letter = readLetter(table, name, text)
  if (!isWhole(letter)) return 'damaged'
  const left = withoutErased(table, letter, erased)
  if (left === 'unchanged') return 'unchanged'
  if (left === 'nothing') disk.remove(name)
  else disk.replace(name, textOf(left))
  return 'changed'
}

/** Undefined for a missing file. */
function readText(disk: Disk, name: string): string | undefined {
  let file: DiskFile
  try {
    file = disk.open(name, false)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const bytes = Buffer.alloc(file.size())
    file.read(bytes, 0)
    return bytes.toString()
  } finally {
    file.close()
  }
}

/** The record contains the number of the series. */
function textOf({ series: _, ...letter }: DeadLetter): Buffer {
  return Buffer.from(`${JSON.stringify(letter)}\n`)
}

/** The file is damaged unless it equals the encoding of its record: the base64 text or a number may contain a bad byte, too. */
function readLetter(table: TableDescription, name: string, text: string): ListedLetter {
  const id = idOf(name)
  let damage = 'the file is not JSON'
  try {
    const file = JSON.parse(text)
    damage = `the file holds no record of ${table.name}`
    const record = recordOf(table, file)
    damage = 'the fields of the file do not match its record'
    const letter = deadLetterOf(table, id, record, String(file.reason), Date.parse(file.at))
    if (isDeepStrictEqual(file, JSON.parse(textOf(letter).toString()))) return letter
  } catch {
    // The text or the record is truncated, or a field is missing.
  }
  return { id, name, damage }
}

export function letterNames(disk: Disk): string[] {
  return disk.list().filter(name => letterName.test(name))
}

/** Removes unfinished files of a process that died while writing: an erase would not find them. */
export function removeUnfinished(disk: Disk): void {
  for (const name of disk.list()) if (unfinishedName.test(name)) disk.remove(name)
}

/** The oldest dead letters by position, at most `limit`, after the id `after`. One removed meanwhile is omitted. */
export async function listDeadLetters(
  table: TableDescription,
  directory: string,
  after: number,
  limit: number,
): Promise<ListedLetter[]> {
  const names = (await readdir(directory)).filter(name => letterName.test(name) && name > nameOf(after)).sort()
  const letters: ListedLetter[] = []
  // Slices bound the open files: ten thousand at once exceed their limit.
  for (let from = 0; from < Math.min(names.length, limit); from += filesAtOnce) {
    const slice = names.slice(from, Math.min(from + filesAtOnce, limit))
    const texts = await Promise.all(slice.map(name => textIn(join(directory, name))))
    letters.push(...slice.flatMap((name, at) => (texts[at] === undefined ? [] : [readLetter(table, name, texts[at])])))
  }
  return letters
}

/** Undefined for a missing file. */
async function textIn(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Returns false when the dead letter does not exist. */
export async function removeDeadLetter(directory: string, id: number): Promise<boolean> {
  try {
    await unlink(join(directory, nameOf(id)))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** Makes the removal of dead letters durable. */
export async function syncFolder(directory: string): Promise<void> {
  const folder = await open(directory)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
