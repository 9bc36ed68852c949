/**
 * Rows that QuestDB refuses as invalid. Each is a small file beside the journal, with its reason, named after
 * its position in the journal: a replay that meets it again writes the same file again.
 */

import { readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Disk, DiskFile } from '../journal/disk.ts'
import {
  erasedFurther,
  eraseFurther,
  type FurtherValue,
  layoutOf,
  offsetOf,
  type RecordFields,
  readRecord,
} from '../journal/record.ts'
import type { TableDescription } from '../table.ts'
import { DamagedFile } from './file-retry.ts'

export interface DeadLetter {
  /** Position of the record in the journal. */
  id: number
  /** When it was refused, ISO 8601. */
  at: string
  reason: string
  /** The number of the series: of the device, or of the station's parameter. */
  series: number
  /** The symbols of the row, with blanks between them. */
  symbol: string
  /** Time of the row, ISO 8601 with microseconds, or the bare number when it is no date. */
  time: string
  values: Record<string, number | null>
  /** Values that have no column, by the numbers of their series. */
  further?: FurtherValue[]
  /** The record as it stood in the journal, base64. */
  record: string
}

/** The number of the series stands in the record. */
type LetterFile = Omit<DeadLetter, 'series'>

/** Beyond this the forwarder stops and reports an issue: so many refusals are a bug, not the rows. */
export const deadLettersMax = 10_000
const filesAtOnce = 100

const letterName = /^dead-\d{16}\.json$/
const unfinishedName = /^dead-\d{16}\.json\.new$/
export const nameOf = (id: number) => `dead-${String(id).padStart(16, '0')}.json`

/** Writes one record, durably. */
export function writeDeadLetter(
  table: TableDescription,
  disk: Disk,
  position: number,
  record: Uint8Array,
  reason: string,
  nowMs: number,
): void {
  const fields = readRecord(table, viewOf(record), 0)
  const letter: LetterFile = {
    id: position,
    at: new Date(nowMs).toISOString(),
    reason,
    symbol: fields.symbols.join(' '),
    time: formatTimeUs(fields.timeUs),
    values: valuesOf(fields),
    ...furtherOf(fields),
    record: Buffer.from(record).toString('base64'),
  }
  disk.replace(nameOf(position), textOf(letter))
  disk.syncDirectory()
}

/**
 * Takes erased series out of a letter, further ones as `erasedFurther` tells them: one of an erased series is removed, one with a
 * value of one is written again without it. The new file is synced before it takes the place of the old one; that it has, or that
 * a letter is removed, is durable when the directory is synced. False when the letter has nothing of them, or is gone. Throws
 * DamagedFile.
 */
export function eraseFromLetter(
  table: TableDescription,
  disk: Disk,
  name: string,
  erased: ReadonlySet<number>,
): boolean {
  const text = readText(disk, name)
  const left = text === undefined ? 'unchanged' : withoutErased(table, name, text, erased)
  if (left === 'unchanged') return false
  if (left === 'nothing') disk.remove(name)
  else disk.replace(name, textOf(left))
  return true
}

/** Undefined when it is gone. */
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

/** What is left of a letter. */
function withoutErased(
  table: TableDescription,
  name: string,
  text: string,
  erased: ReadonlySet<number>,
): LetterFile | 'unchanged' | 'nothing' {
  try {
    const letter = readLetter(text)
    const { further, series, ...rest } = letter
    if (erased.has(series)) return 'nothing'
    if (!further?.some(value => erased.has(erasedFurther(value.series)))) return 'unchanged'
    const record = recordOf(table, letter)
    const view = viewOf(record)
    eraseFurther(view, 0, number => erased.has(number))
    return { ...rest, ...furtherOf(readRecord(table, view, 0)), record: record.toString('base64') }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new DamagedFile(`${name} is damaged (${reason}): repair or remove it`)
  }
}

function textOf(letter: LetterFile): Buffer {
  return Buffer.from(`${JSON.stringify(letter)}\n`)
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Those that were not erased. */
function furtherOf(fields: RecordFields): Pick<LetterFile, 'further'> {
  const further = fields.further.filter(({ value }) => !Number.isNaN(value))
  return further.length === 0 ? {} : { further }
}

export function letterNames(disk: Disk): string[] {
  return disk.list().filter(name => letterName.test(name))
}

/** Removes what a process has left that died while it wrote a letter: an erase would not find it. */
export function removeUnfinished(disk: Disk): void {
  for (const name of disk.list()) if (unfinishedName.test(name)) disk.remove(name)
}

/** The oldest dead letters by position, at most `limit`, behind the one with id `after`. One that goes meanwhile is left out. */
export async function listDeadLetters(directory: string, after: number, limit: number): Promise<DeadLetter[]> {
  const names = (await readdir(directory)).filter(name => letterName.test(name) && name > nameOf(after)).sort()
  const letters: DeadLetter[] = []
  // In slices: ten thousand files at once are more than a process may open.
  for (let from = 0; from < Math.min(names.length, limit); from += filesAtOnce) {
    const slice = names.slice(from, Math.min(from + filesAtOnce, limit))
    const texts = await Promise.all(slice.map(name => textIn(join(directory, name))))
    letters.push(...texts.filter(text => text !== undefined).map(readLetter))
  }
  return letters
}

/** Undefined when it is gone. */
async function textIn(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function readLetter(text: string): DeadLetter {
  const file: LetterFile = JSON.parse(text)
  return { ...file, series: Buffer.from(file.record, 'base64').readUInt32LE(offsetOf.series) }
}

/** False when there is no such letter. */
export async function removeDeadLetter(directory: string, id: number): Promise<boolean> {
  try {
    await unlink(join(directory, nameOf(id)))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** The record of a letter, to be appended anew. */
export function recordOf(table: TableDescription, letter: DeadLetter): Buffer {
  const record = Buffer.from(letter.record, 'base64')
  const { kind, lengthMin } = layoutOf(table)
  const isWhole = record.length >= lengthMin && record.readUInt16LE(offsetOf.length) === record.length
  if (!isWhole || record[offsetOf.kind] !== kind)
    throw new Error(`dead letter ${letter.id} holds no record of ${table.name}`)
  return record
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
