/** Writes the frame of a list: `{meta, data}`, with links to the other pages. */

import { z } from 'zod'
import type { Paging } from './paging.ts'

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
