/**
 * The files of dead letters. Each is a small file beside the journal, named after its position in the journal: a replay that
 * meets it again writes the same file again.
 */

import { open, readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Disk, DiskFile } from '../journal/disk.ts'
import { offsetOf } from '../journal/record.ts'
import type { TableDescription } from '../table.ts'
import { type DeadLetter, deadLetterOf, withoutErased } from './dead-letter.ts'
import { DamagedFile } from './file-retry.ts'

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
  disk.replace(nameOf(position), textOf(deadLetterOf(table, position, record, reason, nowMs)))
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
  const left = text === undefined ? 'unchanged' : textWithoutErased(table, name, text, erased)
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

function textWithoutErased(table: TableDescription, name: string, text: string, erased: ReadonlySet<number>) {
  try {
    return withoutErased(table, readLetter(text), erased)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new DamagedFile(`${name} is damaged (${reason}): repair or remove it`)
  }
}

/** The number of the series stands in the record. */
function textOf({ series: _, ...letter }: DeadLetter): Buffer {
  return Buffer.from(`${JSON.stringify(letter)}\n`)
}

function readLetter(text: string): DeadLetter {
  const file: Omit<DeadLetter, 'series'> = JSON.parse(text)
  return { ...file, series: Buffer.from(file.record, 'base64').readUInt32LE(offsetOf.series) }
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

/** Makes it durable that letters were removed. */
export async function syncFolder(directory: string): Promise<void> {
  const folder = await open(directory)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
