/** `/openapi.json` and `/docs`: for whoever is on this machine, and for administrators. */

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isLocalRequest } from '../http/local-request.ts'
import type { RouteFamily } from '../http/route-family.ts'
import { docsPolicy, renderDocs } from './kit/docs-page.ts'
import { sendError } from './kit/errors.ts'
import { createOpenApi, type PublishedOperations } from './kit/openapi.ts'

export interface DocsOptions {
  published: readonly PublishedOperations[]
  isAdmin: (request: IncomingMessage) => Promise<boolean>
  /** Whether an address is that of a proxy of ours. */
  isTrusted: (address: string) => boolean
}

export function docsFamily(options: DocsOptions): RouteFamily {
  return { prefix: '', register: scope => registerDocs(scope, options) }
}

function registerDocs(app: FastifyInstance, { published, isAdmin, isTrusted }: DocsOptions): void {
  const document = createOpenApi(published)
  const json = JSON.stringify(document)
  const page = renderDocs(document)
  const mayRead = async ({ raw }: FastifyRequest) => isLocalRequest(raw, isTrusted) || (await isAdmin(raw))

  const route = (url: string, send: (reply: FastifyReply) => FastifyReply) =>
    app.get(url, { exposeHeadRoute: false }, async (request, reply) =>
      (await mayRead(request)) ? send(reply) : sendError(reply, 'UNAUTHENTICATED'),
    )
  route('/openapi.json', reply => reply.header('content-type', 'application/json').send(json))
  route('/docs', reply =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', docsPolicy)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .send(page),
  )
}
