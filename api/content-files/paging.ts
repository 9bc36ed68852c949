/** Parses the part of the list, and builds links to the parts before and after it. */

import { type Query, valueCharactersMax } from './query-string.ts'

export interface Paging {
  limit: number
  /** May exceed any number of files. Links repeat its digits. */
  offset: bigint
}

const limitUsual = 10
const limitMax = 100

/** Invalid numbers count as missing, without an error. */
export function readPaging(query: Query): Paging {
  const limit = readWhole(query.last('limit'))
  const offset = readWhole(query.last('offset'))
  return {
    limit: limit === undefined || limit <= 0n ? limitUsual : Number(limit < limitMax ? limit : limitMax),
    offset: offset === undefined || offset < 0n ? 0n : offset,
  }
}

function readWhole(text = ''): bigint | undefined {
  // The cost of parsing grows faster than the number of digits.
  if (text.length > valueCharactersMax) return undefined
  const [, sign, digits] = /^\s*([+-]?)(\d+)\s*$/.exec(text) ?? []
  if (digits === undefined) return undefined
  return sign === '-' ? -BigInt(digits) : BigInt(digits)
}

/** Arguments of the part that begins at `offset`. The first part has none. */
export function queryAt(query: Query, limit: number, offset: bigint): string {
  return query.write({ limit: `${limit}`, offset: offset <= 0n ? undefined : `${offset}` })
}

export interface Links {
  next: string | null
  previous: string | null
}

export function linksOf(address: string, query: Query, { limit, offset }: Paging, count: number): Links {
  const size = BigInt(limit)
  const link = (at: bigint) => `${address}?${queryAt(query, limit, at)}`
  return {
    next: offset + size >= count ? null : link(offset + size),
    previous: offset <= 0n ? null : link(offset - size),
  }
}
