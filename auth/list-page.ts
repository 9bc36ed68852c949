/** Pages and searches of lists. Pages count from 1. */

import { z } from 'zod'

export const rowsPerPage = 100

export const pageFields = {
  page: z.int(),
  /** The number of the next page, or null on the last one. */
  next: z.int().nullable(),
}

/** `total` counts all rows, or the matches of a search. */
export const listPageFields = { total: z.int(), ...pageFields }

type ListPage = z.infer<z.ZodObject<typeof listPageFields>>

/** Fields of a page besides its rows. */
export function listPage(total: number, page: number): ListPage {
  return { total, page, next: page * rowsPerPage < total ? page + 1 : null }
}

/** Number of rows before the page. */
export function pageOffset(page: number): number {
  return (page - 1) * rowsPerPage
}

export function rowsOfPage<Row>(rows: readonly Row[], page: number): Row[] {
  return rows.slice(pageOffset(page), page * rowsPerPage)
}

/** A case-insensitive pattern makes no copies, unlike lowering each text of a hundred thousand records. */
export function createTextSearch(search: string): (text: string) => boolean {
  const pattern = new RegExp(RegExp.escape(search.normalize('NFC')), 'iu')
  return text => pattern.test(text)
}
