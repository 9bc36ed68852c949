/** Which page of a list is asked for. */

export interface Paging {
  /** From 1 on; a page that cannot be there is one too. */
  readonly page: number
  readonly perPage: number
}

export const perPageMax = 10_000
export const perPageDefault = 50

/** What is no integer counts as not given. */
export function readPaging(query: URLSearchParams): Paging {
  const perPage = readInteger(query.get('per_page'))
  return {
    page: readInteger(query.get('page')) ?? 1,
    perPage: perPage === undefined || perPage < 1 ? perPageDefault : Math.min(perPage, perPageMax),
  }
}

/** The most rows that a list may have in total; Infinity without a `limit`, or with one that is no whole number from 1 on. */
export function readLimit(query: URLSearchParams): number {
  const limit = readInteger(query.get('limit'))
  return limit === undefined || limit < 1 ? Number.POSITIVE_INFINITY : limit
}

/** Page 1 is there even when it is empty. */
function isPageThere({ page, perPage }: Paging, total: number): boolean {
  return page === 1 || (page > 1 && page <= Math.ceil(total / perPage))
}

/** The page's part of a list in memory, and the rows on all pages; undefined when there is no such page. */
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
