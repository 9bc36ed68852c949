/** Declares pages of lists: their fields besides the rows, and their offsets. Pages count from 1. */

import { z } from 'zod'

export const rowsPerPage = 100

export const pageFields = {
  page: z.int(),
  /** The number of the next page, or null on the last one. */
  next: z.int().nullable(),
}

/** `total` counts all rows, or the matches of a search. */
export const listPageFields = { total: z.int(), ...pageFields }

export type ListPage = z.infer<z.ZodObject<typeof listPageFields>>

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
