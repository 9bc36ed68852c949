/** Pages of lists: the fields behind the entries, and which rows one has. They count from 1. */

import { z } from 'zod'

export const rowsPerPage = 100

export const pageFields = {
  page: z.int(),
  /** The number of the next page, or null on the last one. */
  next: z.int().nullable(),
}

/** Where it is known how many rows there are, or a search finds, in all. */
export const listPageFields = { total: z.int(), ...pageFields }

export type ListPage = z.infer<z.ZodObject<typeof listPageFields>>

/** What the page says beside its rows. */
export function listPage(total: number, page: number): ListPage {
  return { total, page, next: page * rowsPerPage < total ? page + 1 : null }
}

/** Rows before those of the page. */
export function pageOffset(page: number): number {
  return (page - 1) * rowsPerPage
}

export function rowsOfPage<Row>(rows: readonly Row[], page: number): Row[] {
  return rows.slice(pageOffset(page), page * rowsPerPage)
}
