/** Reads bodies of line protocol and resolves the devices and fields of their lines. */

import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import type { Unresolved } from '../formats/encode.ts'
import type { Reject } from '../formats/reject.ts'
import { columnsOf } from '../formats/rows.ts'
import type { DeviceRef } from '../readings-table.ts'
import { NamesUnavailable } from './import.ts'
import type { ReadLines, ReadLinesTask } from './line-protocol-worker.ts'
import { type PackedNames, textAt, textIndexes, unpackNames } from './packed-names.ts'
import { type FieldResolver, type FindKnown, findKnown, resolveFields } from './resolve-names.ts'

interface ResolvedLines {
  kind: 'read'
  result: ReadBody
  /** The names are from the first reading of the body. */
  names: Pick<ReadBody, 'names' | 'generation'>
  resolved: ResolvedNames
}

/** `bytes`: size of the uncompressed body. */
type UnreadLines = Exclude<ReadLines, { kind: 'read' }> | { kind: 'later'; bytes: number }

type ReadBody = Extract<ReadLines, { kind: 'read' }>
/** The index is the name's. */
export type ResolvedNames = readonly (DeviceRef | Unresolved)[]

type Read = (task: ReadLinesTask) => Promise<ReadLines>

export interface LineResolver {
  /** The device of each name, or why its lines are rejected; `later` when the registry is unavailable. */
  resolve: (names: readonly string[]) => Promise<(DeviceRef | Unresolved)[] | 'later'>
  /** Finds devices whose names the thread has already resolved. Without it all names are resolved. */
  known?: FindKnown | undefined
  /** Resolves fields without a column. Without it they are not stored. */
  fields?: Omit<FieldResolver, 'find'> | undefined
}

/** A line that depends on its device's metrics is read again once they are known. */
export async function readResolved(
  read: Read,
  task: ReadLinesTask,
  resolver: LineResolver,
): Promise<ResolvedLines | UnreadLines> {
  const first = await read(task)
  if (first.kind !== 'read') return first
  const { bytes, names, generation } = first
  const resolved = await orLater(() => resolveNames(names, resolver))
  if (resolved === 'later') return { kind: 'later', bytes }
  if ('changed' in resolved) {
    detachBuffers(columnsOf(first.rows))
    const changed = { places: resolved.changed, generation }
    return await readResolved(read, { ...task, body: first.body, isInTexts: true, changed }, resolver)
  }
  const fields = await orLater(() => resolveFields(resolved, first.sightings, resolver.fields))
  if (fields === 'later') return { kind: 'later', bytes }
  if (fields === undefined) {
    detachBuffers([first.body])
    return { kind: 'read', result: first, names: { names, generation }, resolved }
  }
  const result = await read({ ...task, body: first.body, fields })
  return result.kind === 'read' ? { kind: 'read', result, names: { names, generation }, resolved } : result
}

/** Returns places of names whose devices have changed, if any: the body is read again with the texts of its names. */
async function resolveNames(
  names: PackedNames,
  { resolve, known }: LineResolver,
): Promise<ResolvedNames | { changed: number[] } | 'later'> {
  const { found, changed } = await findKnown(names, known)
  if (changed.length > 0) return { changed: changed.map(index => names.known?.places[index] ?? -1) }
  const indexes = textIndexes(names)
  const resolved = indexes.length === 0 ? [] : await resolve(unpackNames(names).map(([name = '']) => name))
  if (resolved === 'later') return 'later'
  for (let at = 0; at < indexes.length; at++) found[indexes[at] as number] = resolved[at]
  return found as ResolvedNames
}

async function orLater<Result>(find: () => Promise<Result>): Promise<Result | 'later'> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof NamesUnavailable) return 'later'
    throw error
  }
}

/**
 * The index is the name's. Returns the spelling of the lines, or the registry's name for a device known by its number.
 */
export function createNameOf(names: PackedNames, resolved: ResolvedNames): (index: number) => string {
  let texts: Map<number, string> | undefined
  return index => {
    texts ??= new Map(textIndexes(names).map((of, at) => [of, textAt(names.parts, at)]))
    return texts.get(index) ?? (resolved[index] as { name?: string }).name ?? ''
  }
}

/** The lines of unknown devices, each device with its first line. */
export function refusedLines(
  { rows, lineCounts }: ReadBody,
  resolved: ResolvedNames,
  nameOf: (index: number) => string,
  rejectsMax: number,
): { count: number; rejects: Reject[] } {
  const rejects: Reject[] = []
  let count = 0
  const missing = new Map<number, Unresolved>()
  for (let index = 0; index < resolved.length; index++) {
    const each = resolved[index] as DeviceRef | Unresolved
    if (!('reason' in each)) continue
    count += lineCounts[index] ?? 0
    missing.set(index, each)
  }
  for (let row = 0; row < rows.count && missing.size > 0 && rejects.length < rejectsMax; row++) {
    const index = rows.names[row] as number
    const unresolved = missing.get(index)
    if (unresolved === undefined) continue
    missing.delete(index)
    const { code, reason } = unresolved
    rejects.push({ line: rows.lines[row] as number, device: nameOf(index), code, reason })
  }
  return { count, rejects }
}
