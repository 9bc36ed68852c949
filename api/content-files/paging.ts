/** Which part of the list is asked for, and the links to the parts before and behind it. */

import { type Query, valueCharactersMax } from './query-string.ts'

export interface Paging {
  limit: number
  /** May lie beyond any number of files; its digits stand in a link again. */
  offset: bigint
}

const limitUsual = 10
const limitMax = 100

/** Nothing is an error here: what is no number in range counts as not given. */
export function readPaging(query: Query): Paging {
  const limit = readWhole(query.last('limit'))
  const offset = readWhole(query.last('offset'))
  return {
    limit: limit === undefined || limit <= 0n ? limitUsual : Number(limit < limitMax ? limit : limitMax),
    offset: offset === undefined || offset < 0n ? 0n : offset,
  }
}

function readWhole(text = ''): bigint | undefined {
  // A number of so many digits takes more than in proportion to be read and written.
  if (text.length > valueCharactersMax) return undefined
  const [, sign, digits] = /^\s*([+-]?)(\d+)\s*$/.exec(text) ?? []
  if (digits === undefined) return undefined
  return sign === '-' ? -BigInt(digits) : BigInt(digits)
}

/** Arguments of the part that begins at `offset`; the first part names none. */
export function queryAt(query: Query, limit: number, offset: bigint): string {
  return query.write({ limit: `${limit}`, offset: offset <= 0n ? undefined : `${offset}` })
}

export interface Links {
  next: string | null
  previous: string | null
}

/** `address` is that of the list, without a query. */
export function linksOf(address: string, query: Query, { limit, offset }: Paging, count: number): Links {
  const size = BigInt(limit)
  const link = (at: bigint) => `${address}?${queryAt(query, limit, at)}`
  return {
    next: offset + size >= count ? null : link(offset + size),
    previous: offset <= 0n ? null : link(offset - size),
  }
}
