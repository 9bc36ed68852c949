/** Declares the two operations on content files: the list, and one file. */

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Filters } from '../../query/content/filters.ts'
import type { Repository } from '../../query/content/repository.ts'
import type { Operation } from '../http/operation.ts'
import { type Answer, listAnswer } from './answer.ts'
import { type ContentFileErrorCode, errorAnswer, invalidFilters } from './errors.ts'
import { filterErrors, readFilters } from './filters.ts'
import type { Form } from './negotiation.ts'
import type { Shown } from './page-model.ts'
import { linksOf, readPaging } from './paging.ts'
import type { Query } from './query-string.ts'
import { listPath } from './requested-path.ts'
import { ContentFile, ContentFileList, FileQuery, ListQuery } from './schemas.ts'

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

export interface Sources {
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
