/** Pages of lists and their envelope. */

import { z } from 'zod'

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

export const Meta = z
  .object({
    first_url: z.url(),
    last_url: z.url(),
    next_url: z.url().nullable().meta({ description: 'null on the last page' }),
    page: z.int(),
    pages: z.int(),
    per_page: z.int(),
    prev_page: z.url().nullable().meta({ description: 'The address of the page before; null on the first one' }),
    total: z.int().meta({ description: 'Rows on all pages' }),
  })
  .meta({ id: 'AirQualityMeta' })
type Meta = z.infer<typeof Meta>

export interface Listed extends Paging {
  /** Address of the list, absolute and without a query. */
  readonly url: string
  /** Arguments that each link repeats: `filter`, `sort`, `limit` and the upper bound of a walk. */
  readonly kept: Readonly<Record<string, string | undefined>>
  /** Number of rows on all pages. */
  readonly total: number
}

export function metaOf({ url, kept, page, perPage, total }: Listed): Meta {
  const pages = Math.ceil(total / perPage)
  const linkTo = (target: number) => {
    const query = new URLSearchParams({ page: `${target}`, per_page: `${perPage}` })
    for (const [name, value] of Object.entries(kept)) if (value !== undefined) query.set(name, value)
    return `${url}?${query}`
  }
  return {
    first_url: linkTo(1),
    last_url: linkTo(Math.max(1, pages)),
    next_url: page < pages ? linkTo(page + 1) : null,
    page,
    pages,
    per_page: perPage,
    prev_page: page > 1 ? linkTo(page - 1) : null,
    total,
  }
}
