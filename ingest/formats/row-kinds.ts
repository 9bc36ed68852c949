/** The kinds of rows by name: a description has functions in it, which cannot be handed to a thread. */

import { pointRows } from './point-rows.ts'
import { readingRows } from './reading-rows.ts'
import type { RowKind } from './row-kind.ts'

export const rowKinds = { readings: readingRows, points: pointRows } as const
export type RowKindName = keyof typeof rowKinds

/** For code that treats the values of every kind alike. */
export function rowKindOf(name: RowKindName): RowKind<never> {
  return rowKinds[name] as RowKind<never>
}
