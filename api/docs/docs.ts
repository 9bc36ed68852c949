/** `/openapi.json` and `/docs`: for whoever is on this machine, and for administrators. */

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from '../accounts/kit/errors.ts'
import { isLocalRequest } from '../http/local-request.ts'
import type { RouteFamily } from '../http/route-family.ts'
import { type Contract, createOpenApi } from './contract.ts'
import { docsPolicy, renderDocs } from './docs-page.ts'

export interface DocsOptions {
  /** Of the families that are published. */
  contracts: readonly Contract[]
  isAdmin: (request: IncomingMessage) => Promise<boolean>
  /** Whether an address is that of a proxy of ours. */
  isTrusted: (address: string) => boolean
}

export function docsFamily(options: DocsOptions): RouteFamily {
  return { prefix: '', register: scope => registerDocs(scope, options) }
}

function registerDocs(app: FastifyInstance, { contracts, isAdmin, isTrusted }: DocsOptions): void {
  const document = createOpenApi(contracts)
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
