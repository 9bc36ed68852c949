/**
 * The files of dead letters. Each is a small file beside the journal, named after its position in the journal: a repeated replay
 * writes the same file again.
 */

import { open, readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Disk, DiskFile } from '../journal/disk.ts'
import type { TableDescription } from '../table.ts'
import { type DeadLetter, deadLetterOf, isWhole, type ListedLetter, recordOf, withoutErased } from './dead-letter.ts'

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
  // In slices: ten thousand files at once exceed the limit of open files.
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
