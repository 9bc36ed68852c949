/** Declares the operations on content files for the contract. */

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Filters } from '../../query/content/filters.ts'
import { ContentFileLine } from '../../query/content/line.ts'
import type { Repository } from '../../query/content/repository.ts'
import type { Operation } from '../http/operation.ts'
import { type Answer, type ContentFileErrorCode, errorAnswer, invalidFilters, listAnswer } from './answer.ts'
import { filterErrors, filterNames, readFilters } from './filters.ts'
import type { Form } from './negotiation.ts'
import type { Shown } from './page-model.ts'
import { linksOf, type Query, readPaging } from './query-string.ts'
import { listPath } from './requested-path.ts'

/** Leaves out fields that only the store has. All others are present. */
const ContentFile = ContentFileLine.omit({ created_on: true, published: true, content: true })
  .extend({ id: z.int(), content_feature_type: z.array(z.string()), resource_id: z.string() })
  .meta({ id: 'ContentFile' })

const ContentFileList = z
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

const ListQuery = z.object({ ...filters, ...paging, ...format })
const FileQuery = z.object({ ...filters, ...format })

/** Parsed parts of every request of the two routes, for any method. */
export interface OperationInput {
  kind: Shown['kind']
  query: Query
  form: Form
}

export type Found = Pick<Shown, 'answer' | 'part'>
export type Find = (request: FastifyRequest, asked: OperationInput) => Found | Promise<Found>

export interface ContentFileOperation extends Operation<ContentFileErrorCode> {
  kind: Shown['kind']
  find: Find
}

interface Sources {
  repository: Repository
  /** Address under which the client reaches the service. */
  addressOf: (request: FastifyRequest) => string
}

export function listOperation(sources: Sources): ContentFileOperation {
  return {
    method: 'GET',
    path: '/contentfiles',
    publishedPath: '/contentfiles/',
    kind: 'list',
    name: 'list_content_files',
    summary: 'The content files',
    parameters: { query: ListQuery },
    success: { status: 200, description: 'A part of them', json: ContentFileList, text: ['text/html'] },
    refusals: ['FORMAT_UNKNOWN'],
    find: (request, { query }) => findPage(sources, request, query),
  }
}

export function fileOperation(sources: Sources): ContentFileOperation {
  return {
    method: 'GET',
    // A wildcard has no length limit, unlike a named parameter.
    path: '/contentfiles/*',
    publishedPath: '/contentfiles/{id}/',
    kind: 'file',
    name: 'get_content_file',
    summary: 'One content file',
    parameters: { path: z.object({ id: z.int() }), query: FileQuery },
    success: { status: 200, description: 'The file', json: ContentFile, text: ['text/html'] },
    refusals: ['FILE_UNKNOWN'],
    find: (request, { query }) => findFile(sources, query, (request.params as { '*': string })['*']),
  }
}

async function findPage({ repository, addressOf }: Sources, request: FastifyRequest, query: Query): Promise<Found> {
  const { filters, errors } = readFilters(query)
  const invalid = filterErrors(errors, await repository.unknownCodes(filters))
  if (invalid !== undefined) return { answer: invalidFilters(invalid), part: undefined }
  const paging = readPaging(query)
  const { count, files } = await repository.list(filters, { offset: Number(paging.offset), limit: paging.limit })
  const links = linksOf(`${addressOf(request)}${listPath}`, query, paging, count)
  return { answer: listAnswer(count, links, files), part: { paging, count } }
}

async function findFile({ repository }: Sources, query: Query, text: string): Promise<Found> {
  const { filters, errors } = readFilters(query)
  const invalid = filterErrors(errors, await repository.unknownCodes(filters))
  const answer = invalid === undefined ? await fileAnswer(repository, filters, text) : invalidFilters(invalid)
  return { answer, part: undefined }
}

async function fileAnswer(repository: Repository, filters: Filters, text: string): Promise<Answer> {
  if (!/^-?\d+$/.test(text)) return errorAnswer('ID_INVALID')
  const id = Number(text)
  // Ids may have any number of digits. Only safe integers can be the id of a file.
  const file = Number.isSafeInteger(id) ? await repository.file(filters, id) : undefined
  return file === undefined ? errorAnswer('FILE_UNKNOWN') : { status: 200, json: Buffer.from(file) }
}
