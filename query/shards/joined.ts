/** Columns of stretches of time, one behind the other. */

import { mapColumns } from '../map-columns.ts'

export function joinedColumn(parts: readonly Float64Array[]): Float64Array {
  const [first] = parts
  if (parts.length === 1 && first !== undefined) return first
  const joined = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

export function joinedColumns<Name extends string>(
  names: readonly Name[],
  parts: readonly Readonly<Record<Name, Float64Array>>[],
): Record<Name, Float64Array> {
  return mapColumns(names, name => joinedColumn(parts.map(part => part[name])))
}

/** By the key under which each of them has it. */
export function joinedMaps<Value>(
  parts: readonly ReadonlyMap<number, Value>[],
  join: (values: readonly Value[]) => Value,
): Map<number, Value> {
  const keys = new Set(parts.flatMap(part => [...part.keys()]))
  return new Map(Array.from(keys, key => [key, join(parts.flatMap(part => part.get(key) ?? []))]))
}
