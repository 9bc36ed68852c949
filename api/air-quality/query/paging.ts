/** Parses the page of a list. */

export interface Paging {
  /** Counts from 1. It may be beyond the last page. */
  readonly page: number
  readonly perPage: number
}

export const perPageMax = 10_000
export const perPageDefault = 50

/** Texts other than integers count as missing. */
export function readPaging(query: URLSearchParams): Paging {
  const perPage = readInteger(query.get('per_page'))
  return {
    page: readInteger(query.get('page')) ?? 1,
    perPage: perPage === undefined || perPage < 1 ? perPageDefault : Math.min(perPage, perPageMax),
  }
}

/** Largest number of rows in total; Infinity without a `limit`, or with an invalid one. */
export function readLimit(query: URLSearchParams): number {
  const limit = readInteger(query.get('limit'))
  return limit === undefined || limit < 1 ? Number.POSITIVE_INFINITY : limit
}

/** Page 1 exists even if it is empty. */
function isPageThere({ page, perPage }: Paging, total: number): boolean {
  return page === 1 || (page > 1 && page <= Math.ceil(total / perPage))
}

/** Cuts a page out of a list in memory and counts all rows. Undefined for a missing page. */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  paging: Paging,
): { total: number; rows: readonly Row[] } | undefined {
  const total = Math.min(rows.length, limit)
  if (!isPageThere(paging, total)) return undefined
  const start = (paging.page - 1) * paging.perPage
  return { total, rows: rows.slice(start, Math.min(start + paging.perPage, total)) }
}

function readInteger(text: string | null): number | undefined {
  return text !== null && /^[+-]?\d+$/.test(text.trim()) ? Number(text) : undefined
}
