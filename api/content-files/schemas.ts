/**
 * Declares arguments and answers of the content files for the contract. filters.ts and paging.ts parse the arguments.
 */

import { z } from 'zod'
import { ContentFileLine } from '../../query/content/line.ts'
import { filterNames } from './filters.ts'

/** Leaves out fields that only the store has. All others are present. */
export const ContentFile = ContentFileLine.omit({ created_on: true, published: true, content: true })
  .extend({ id: z.int(), content_feature_type: z.array(z.string()), resource_id: z.string() })
  .meta({ id: 'ContentFile' })

export const ContentFileList = z
  .object({
    count: z.int().meta({ description: 'Number of files that match the filters.' }),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results: z.array(ContentFile),
  })
  .meta({ id: 'ContentFileList' })

const filterMessages = Object.fromEntries(filterNames.map(name => [name, z.array(z.string()).optional()]))
const FilterMessages = z.object({ error_type: z.string(), ...filterMessages })

export const ContentFileError = z
  .union([z.object({ detail: z.string(), error_type: z.string() }), FilterMessages])
  .meta({ id: 'ContentFileError', description: 'Without detail, the messages for each wrong filter.' })

const numbers = z.array(z.number()).optional()
const texts = z.array(z.string()).optional()
const filters = {
  run_id: numbers,
  resource_id: numbers,
  content_feature_type: texts,
  edx_module_id: texts,
  offered_by: texts.meta({ description: 'Codes; also with commas between them.' }),
  platform: texts.meta({ description: 'Codes; also with commas between them.' }),
}
const format = { format: z.enum(['json', 'api']).optional().meta({ description: 'api is a page for browsers.' }) }
const whole = z.int().meta({ minimum: undefined, maximum: undefined })
const paging = {
  limit: whole.optional().meta({ description: '1 to 100, 10 by default. A value that is not a number is ignored.' }),
  offset: whole.optional(),
}

export const ListQuery = z.object({ ...filters, ...paging, ...format })
export const FileQuery = z.object({ ...filters, ...format })
