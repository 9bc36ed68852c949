/** Resolves the names of a chunk or body: by their known numbers, or else by their texts. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Unresolved } from '../formats/encode.ts'
import type { Series } from '../formats/row-kind.ts'
import type { PackedNames } from './packed-names.ts'

/** With the name, for rejects. */
type KnownDevice = (Series | Unresolved) & { readonly name: string }

/**
 * The device of this number, or why its rows are rejected. Undefined where it has changed since this sequence number, so that the
 * name may belong to another device. Throws `NamesUnavailable` when the registry is unavailable.
 */
export type FindKnown = (number: number, authSeq: number) => KnownDevice | undefined

type Found = KnownDevice | Series | Unresolved

const namesPerTurn = 2000

interface FoundNames {
  /** By the index of the name, without names passed as texts. */
  found: (Found | undefined)[]
  /** Indexes of names of devices that have changed. */
  changed: number[]
}

/** In slices, between which the main thread does other work. */
export async function findKnown({ count, known }: PackedNames, find: FindKnown | undefined): Promise<FoundNames> {
  const found: (Found | undefined)[] = Array(count).fill(undefined)
  const changed: number[] = []
  if (known === undefined || find === undefined) return { found, changed }
  const { numbers, authSeqs } = known
  for (let index = 0; index < count; index++) {
    const number = numbers[index] as number
    if (number === 0) continue
    const device = find(number, authSeqs[index] as number)
    found[index] = device
    if (device === undefined) changed.push(index)
    if ((index + 1) % namesPerTurn === 0) await nextTurn()
  }
  return { found, changed }
}
