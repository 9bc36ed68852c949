/** Which part of the list is asked for, and the links to the parts before and behind it. */

import { type Argument, lastValue, withValues, writeQuery } from './query-string.ts'

export interface Paging {
  limit: number
  /** May lie beyond any number of files; its digits stand in a link again. */
  offset: bigint
}

const limitUsual = 10
const limitMax = 100

/** Nothing is an error here: what is no number in range counts as not given. */
export function readPaging(query: readonly Argument[]): Paging {
  const limit = readWhole(lastValue(query, 'limit'))
  const offset = readWhole(lastValue(query, 'offset'))
  return {
    limit: limit === undefined || limit <= 0n ? limitUsual : Number(limit < limitMax ? limit : limitMax),
    offset: offset === undefined || offset < 0n ? 0n : offset,
  }
}

function readWhole(text: string | undefined): bigint | undefined {
  const [, sign, digits] = /^\s*([+-]?)(\d+)\s*$/.exec(text ?? '') ?? []
  if (digits === undefined) return undefined
  return sign === '-' ? -BigInt(digits) : BigInt(digits)
}

/** Arguments of the part that begins at `offset`; the first part names none. */
export function queryAt(query: readonly Argument[], limit: number, offset: bigint): string {
  return writeQuery(withValues(query, { limit: `${limit}`, offset: offset <= 0n ? undefined : `${offset}` }))
}

export interface Links {
  next: string | null
  previous: string | null
}

/** `address` is that of the list, without a query. */
export function linksOf(address: string, query: readonly Argument[], { limit, offset }: Paging, count: number): Links {
  const size = BigInt(limit)
  const link = (at: bigint) => `${address}?${queryAt(query, limit, at)}`
  return {
    next: offset + size >= count ? null : link(offset + size),
    previous: offset <= 0n ? null : link(offset - size),
  }
}
