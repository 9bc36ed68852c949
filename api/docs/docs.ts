/**
 * Serves `/docs`: the guides, for everybody, as they are the same for every installation. `/docs/api` and
 * `/openapi.json` are for the local machine and for administrators.
 */

import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { extname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from '../accounts/kit/errors.ts'
import { type FindVisitor, rootFrom } from '../http/page-document.ts'
import { wordsFor } from '../http/page-words.ts'
import { isLocalRequest } from '../http/request-address.ts'
import { pageHeaders } from '../http/response-headers.ts'
import type { RouteFamily } from '../http/route-family.ts'
import { acceptedForms } from '../http/send-body.ts'
import { type Contract, createOpenApi } from './contract.ts'
import { contentSecurityPolicy, type DocsPage, queryLengthMax, renderDocsPage, searchPath } from './docs-layout.ts'
import { createDocsPages } from './docs-pages.ts'
import { describeFields } from './field-meanings.ts'
import { publishOperations } from './published-operations.ts'

export interface DocsOptions {
  /** All families of the server. */
  families: readonly Pick<RouteFamily, 'published'>[]
  /** Public address of the service. Undefined means the address of the document. */
  publicUrl?: string | undefined
  isAdmin: (request: IncomingMessage) => Promise<boolean>
  /** Finds the signed-in account; null without one. Without this function, pages do not show it. */
  findVisitor?: FindVisitor
  /** True if the address is a trusted proxy. */
  isTrusted: (address: string) => boolean
}

export function docsFamily(options: DocsOptions): RouteFamily {
  return { prefix: '', published: [], register: scope => registerDocs(scope, options) }
}

function registerDocs(
  app: FastifyInstance,
  { families, publicUrl, isAdmin, isTrusted, findVisitor }: DocsOptions,
): void {
  let built: Promise<Documentation> | undefined
  const documentation = () => {
    built ??= buildDocumentation(families, publicUrl)
    return built
  }
  const mayReadApi = async ({ raw }: FastifyRequest) => isLocalRequest(raw, isTrusted) || (await isAdmin(raw))

  const get = (url: string, handle: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) =>
    app.get(url, { exposeHeadRoute: false }, handle)
  async function show(request: FastifyRequest, reply: FastifyReply, page: DocsPage, mayRead: boolean) {
    const { pages } = await documentation()
    const groups = pages.groups(page.path, mayRead)
    const visitor = await findVisitor?.(request.raw)
    const words = wordsFor(request.raw, visitor?.language)
    return sendDocsPage(request, reply, renderDocsPage(page, groups, visitor, words))
  }

  get('/openapi.json', async (request, reply) =>
    (await mayReadApi(request))
      ? reply.header('content-type', 'application/json').send((await documentation()).json)
      : sendError(reply, 'UNAUTHENTICATED'),
  )
  get(`/${searchPath}`, async (request, reply) => {
    const mayRead = await mayReadApi(request)
    const { q } = request.query as { q?: unknown }
    // A repeated argument arrives as a list.
    const query = typeof q === 'string' ? q.slice(0, queryLengthMax) : ''
    const { pages } = await documentation()
    return await show(request, reply, await pages.search(query, mayRead), mayRead)
  })
  get('/docs', async (request, reply) => {
    const { pages } = await documentation()
    return await show(request, reply, pages.home, await mayReadApi(request))
  })
  get('/docs/*', async (request, reply) => {
    const { pages } = await documentation()
    const path = `docs/${(request.params as { '*': string })['*']}`
    const file = pages.fileAt(path)
    if (file !== undefined) return await sendDocsFile(reply, file)
    const mayRead = await mayReadApi(request)
    if (pages.isOfApi(path) && !mayRead) return await show(request, reply.code(401), pages.refused(path), false)
    const moved = pages.movedTo(path)
    if (moved !== undefined) return reply.redirect(`${rootFrom(`/${path}`)}${moved}`, 301)
    const page = pages.pageAt(path)
    if (page !== undefined) return await show(request, reply, page, mayRead)
    reply.callNotFound()
    return reply
  })
}

interface Documentation {
  /** `/openapi.json` */
  json: string
  pages: ReturnType<typeof createDocsPages>
}

/**
 * Runs at the first request, as it takes 0.3 s of processor time, a tenth of a start. Between two families the main thread does
 * other work.
 */
async function buildDocumentation(families: DocsOptions['families'], publicUrl?: string): Promise<Documentation> {
  const contracts: Contract[] = []
  for (const family of families.flatMap(({ published }) => published)) {
    contracts.push(publishOperations(family))
    await setImmediate()
  }
  const document = describeFields(createOpenApi(contracts, publicUrl))
  return { json: JSON.stringify(document), pages: createDocsPages(document) }
}

const compress = promisify(gzip)

/** It says who is signed in, so it is made for each request. */
async function sendDocsPage(request: FastifyRequest, reply: FastifyReply, page: string): Promise<FastifyReply> {
  const isCompressed = acceptedForms(request.headers['accept-encoding']).includes('gzip')
  if (isCompressed) reply.header('content-encoding', 'gzip')
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', contentSecurityPolicy)
    .header('cache-control', 'private, no-cache')
    .header('vary', 'accept-encoding, accept-language')
    .headers(pageHeaders)
    .send(isCompressed ? await compress(page) : page)
}

const types: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.json': 'application/json',
}

/** A picture that is opened by itself runs no script. */
async function sendDocsFile(reply: FastifyReply, file: URL): Promise<FastifyReply> {
  const bytes = await readFile(file)
  return reply
    .header('content-type', types[extname(file.pathname)] ?? 'text/plain; charset=utf-8')
    .header('content-security-policy', "default-src 'none'")
    .header('cache-control', 'public, max-age=3600')
    .send(bytes)
}
