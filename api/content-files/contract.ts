/** The listing of content files, as a part of the published contract. */

import { z } from 'zod'
import { ContentFileLine } from '../../content/line.ts'
import type { Contract } from '../docs/contract.ts'
import { publishRoutes } from '../docs/published-routes.ts'
import { type ContentFileErrorCode, contentFileErrors } from './errors.ts'
import { filterNames } from './filters.ts'
import { listPath } from './requested-path.ts'

/** Without what only the store knows; all of them are there. */
const ContentFile = ContentFileLine.omit({ created_on: true, published: true, content: true })
  .extend({ id: z.int(), content_feature_type: z.array(z.string()), resource_id: z.string() })
  .meta({ id: 'ContentFile' })

const ContentFileList = z
  .object({
    count: z.int().meta({ description: 'Of all files that the filters let through.' }),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results: z.array(ContentFile),
  })
  .meta({ id: 'ContentFileList' })

const filterMessages = Object.fromEntries(filterNames.map(name => [name, z.array(z.string()).optional()]))
const FilterMessages = z.object({ error_type: z.string(), ...filterMessages })

const ContentFileError = z
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
  limit: whole.optional().meta({ description: '1 to 100, usually 10. What is no number counts as not given.' }),
  offset: whole.optional(),
}

export function contentFilesContract(): Contract {
  return publishRoutes({
    tag: { name: 'content files', description: 'Files of course runs, newest first. Wrong filters are all told.' },
    routes: [
      {
        ...{ method: 'get', path: listPath, name: 'list_content_files', summary: 'The content files' },
        parameters: { query: z.object({ ...filters, ...paging, ...format }) },
        success: { status: 200, description: 'A part of them', json: ContentFileList, text: ['text/html'] },
        refusals: errorsOf('FORMAT_UNKNOWN'),
      },
      {
        ...{ method: 'get', path: `${listPath}{id}/`, name: 'get_content_file', summary: 'One content file' },
        parameters: { path: z.object({ id: z.int() }), query: z.object({ ...filters, ...format }) },
        success: { status: 200, description: 'The file', json: ContentFile, text: ['text/html'] },
        refusals: errorsOf('FILE_UNKNOWN'),
      },
    ],
    error: { schema: ContentFileError, text: ['text/html'] },
    refusals: { all: errorsOf('TOO_MANY_ARGUMENTS', 'NOT_ACCEPTABLE', 'INTERNAL', 'UNAVAILABLE'), paths: [] },
  })
}

function errorsOf(...codes: readonly ContentFileErrorCode[]) {
  return codes.map(code => contentFileErrors[code])
}
