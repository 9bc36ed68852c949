/** `/openapi.json` and `/docs`: for whoever is on this machine, and for administrators. `/docs/statistics`: for everybody. */

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from '../accounts/kit/errors.ts'
import { isLocalRequest } from '../http/local-request.ts'
import type { Visitor } from '../http/page-document.ts'
import type { RouteFamily } from '../http/route-family.ts'
import { pageHeaders } from '../http/security-headers.ts'
import { createOpenApi } from './contract.ts'
import { type DocsPage, renderDocsPage } from './docs-layout.ts'
import { operationsPage } from './docs-page.ts'
import { contentSecurityPolicy } from './docs-style.ts'
import { publishOperations } from './published-operations.ts'
import { statisticsPage } from './statistics-page.ts'

export interface DocsOptions {
  /** All that the server has. */
  families: readonly Pick<RouteFamily, 'published'>[]
  /** Where clients reach the service; undefined: where they read the document. */
  publicUrl?: string | undefined
  isAdmin: (request: IncomingMessage) => Promise<boolean>
  /** Who is signed in, as the pages show it; null: nobody. Without it they show nothing of that. */
  findVisitor?: (request: IncomingMessage) => Promise<Visitor | null>
  /** Whether an address is that of a proxy of ours. */
  isTrusted: (address: string) => boolean
}

export function docsFamily(options: DocsOptions): RouteFamily {
  return { prefix: '', published: [], register: scope => registerDocs(scope, options) }
}

function registerDocs(app: FastifyInstance, options: DocsOptions): void {
  const { families, publicUrl, isAdmin, isTrusted, findVisitor } = options
  const contracts = families.flatMap(({ published }) => published).map(publishOperations)
  const document = createOpenApi(contracts, publicUrl)
  const json = JSON.stringify(document)
  const operations = operationsPage(document)
  const statistics = statisticsPage()
  const mayRead = async ({ raw }: FastifyRequest) => isLocalRequest(raw, isTrusted) || (await isAdmin(raw))

  const show = async ({ raw }: FastifyRequest, reply: FastifyReply, page: DocsPage) =>
    sendPage(reply, renderDocsPage(page, await findVisitor?.(raw)))

  const guarded = (url: string, send: (request: FastifyRequest, reply: FastifyReply) => unknown) =>
    app.get(url, { exposeHeadRoute: false }, async (request, reply) =>
      (await mayRead(request)) ? await send(request, reply) : sendError(reply, 'UNAUTHENTICATED'),
    )
  guarded('/openapi.json', (_request, reply) => reply.header('content-type', 'application/json').send(json))
  guarded('/docs', (request, reply) => show(request, reply, operations))
  // The same for every installation, and linked from its pages.
  app.get('/docs/statistics', { exposeHeadRoute: false }, (request, reply) => show(request, reply, statistics))
}

function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', contentSecurityPolicy)
    .header('cache-control', 'private, no-cache')
    .headers(pageHeaders)
    .send(page)
}
