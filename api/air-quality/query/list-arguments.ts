/**
 * The arguments of lists. query/ reads them by hand, because what is no number there counts as not given; a test compares
 * what stands here with what it reads.
 */

import { z } from 'zod'
import { operators } from '../../../query/conditions/condition.ts'
import { typeOf } from '../point-format.ts'
import { perPageDefault, perPageMax } from './paging.ts'

const paging = {
  page: z.int().min(1).default(1),
  per_page: z
    .int()
    .min(1)
    .max(perPageMax)
    .default(perPageDefault)
    .meta({ description: 'Rows of a page; more than the maximum counts as the maximum.' }),
}

export const PageArguments = z.object(paging)

/** `last` is the column that ends every order. */
export function listArguments(columns: readonly string[], last: string) {
  const names = columns.join(', ')
  const filter =
    'column,operator,value; several are joined by ";", and all have to be true; in takes several values.' +
    ` Columns: ${names}. Operators: ${operators.join(', ')}.`
  const sort = `column,asc or column,desc; several are joined by ";". Columns: ${names}. Every order ends with ${last}.`
  return z.object({
    filter: z.string().optional().meta({ description: filter }),
    sort: z.string().optional().meta({ description: sort }),
    ...paging,
    limit: z.int().min(1).optional().meta({ description: 'The most rows on all pages together.' }),
    until: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'Links in meta carry it, so that records added while a client reads the pages stay out.' }),
  })
}

export const formatArgument = {
  format: z
    .enum(Object.keys(typeOf) as (keyof typeof typeOf)[])
    .optional()
    .meta({ description: 'Counts before Accept.' }),
}
