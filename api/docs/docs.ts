/** `/openapi.json` and `/docs`: for whoever is on this machine, and for administrators. `/docs/statistics`: for everybody. */

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from '../accounts/kit/errors.ts'
import { isLocalRequest } from '../http/local-request.ts'
import type { RouteFamily } from '../http/route-family.ts'
import { pageHeaders } from '../http/security-headers.ts'
import { createOpenApi } from './contract.ts'
import { renderDocs } from './docs-page.ts'
import { contentSecurityPolicy } from './docs-style.ts'
import { publishOperations } from './published-operations.ts'
import { renderStatistics } from './statistics-page.ts'

export interface DocsOptions {
  /** All that the server has. */
  families: readonly Pick<RouteFamily, 'published'>[]
  /** Where clients reach the service; undefined: where they read the document. */
  publicUrl?: string | undefined
  isAdmin: (request: IncomingMessage) => Promise<boolean>
  /** Whether an address is that of a proxy of ours. */
  isTrusted: (address: string) => boolean
}

export function docsFamily(options: DocsOptions): RouteFamily {
  return { prefix: '', published: [], register: scope => registerDocs(scope, options) }
}

function registerDocs(app: FastifyInstance, { families, publicUrl, isAdmin, isTrusted }: DocsOptions): void {
  const contracts = families.flatMap(({ published }) => published).map(publishOperations)
  const document = createOpenApi(contracts, publicUrl)
  const json = JSON.stringify(document)
  const operations = renderDocs(document)
  const statistics = renderStatistics()
  const mayRead = async ({ raw }: FastifyRequest) => isLocalRequest(raw, isTrusted) || (await isAdmin(raw))

  const guarded = (url: string, send: (reply: FastifyReply) => FastifyReply) =>
    app.get(url, { exposeHeadRoute: false }, async (request, reply) =>
      (await mayRead(request)) ? send(reply) : sendError(reply, 'UNAUTHENTICATED'),
    )
  guarded('/openapi.json', reply => reply.header('content-type', 'application/json').send(json))
  guarded('/docs', reply => sendPage(reply, operations))
  // The same for every installation, and linked from its pages.
  app.get('/docs/statistics', { exposeHeadRoute: false }, (_request, reply) => sendPage(reply, statistics))
}

function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', contentSecurityPolicy)
    .headers(pageHeaders)
    .send(page)
}
