/** Applies the rules before and after an operation: redirect, negotiation, form of the answer. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IndexHolder } from '../../query/content/index-holder.ts'
import { bug } from '../../store/limits/bug.ts'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { setRetryAfter } from '../http/errors.ts'
import type { FindVisitor } from '../http/page-document.ts'
import { wordsFor } from '../http/page-words.ts'
import { hasTooManyArguments } from '../http/parameters.ts'
import type { Rules } from '../http/route-family.ts'
import {
  type Answer,
  contentFileErrors,
  errorAnswer,
  methodNotAllowed,
  sendError,
  sendHtml,
  sendJson,
} from './answer.ts'
import { renderPage } from './html/page.ts'
import { contentSecurityPolicy } from './html/style.ts'
import { negotiate } from './negotiation.ts'
import type { ContentFileOperation, Find, Found, OperationInput } from './operations.ts'
import { allowedMethods, optionsAnswer } from './options.ts'
import { createPage, type Shown } from './page-model.ts'
import { Query } from './query-string.ts'
import { queryOf, slashedUrl } from './requested-path.ts'

interface Parts {
  indexHolder: IndexHolder
  findVisitor: FindVisitor | undefined
  log: Log
}

/** The redirect and the negotiation apply to every method of the two paths. Bodies are not read. */
export function rulesOf(parts: Parts): Rules<ContentFileOperation> {
  const only = (answer: Answer): Found => ({ answer, part: undefined })
  return {
    onRequest:
      ({ kind }) =>
      (request, reply, done) => {
        if (negotiateForm(request, reply, kind)) done()
      },
    handler:
      ({ find }) =>
      (request, reply) =>
        answer(parts, request, reply, find),
    refuseMethod(request, reply, _allowed, [operation]) {
      if (operation === undefined) throw bug('a path has no operation')
      const { kind } = operation
      if (!negotiateForm(request, reply, kind)) return reply
      const { method } = request
      const refusal = method === 'OPTIONS' ? optionsAnswer(kind) : methodNotAllowed(method)
      return answer(parts, request, reply, () => only(refusal))
    },
  }
}

/** False if the request was answered here. */
function negotiateForm(request: FastifyRequest, reply: FastifyReply, kind: Shown['kind']): boolean {
  const { headers, originalUrl } = request
  const location = slashedUrl(originalUrl)
  if (location !== undefined) {
    sendHtml(reply.code(301).header('location', location), '')
    return false
  }
  reply.headers({ allow: allowedMethods.join(', '), vary: 'Accept' })
  const text = queryOf(originalUrl)
  if (hasTooManyArguments(text)) {
    sendError(reply, 'TOO_MANY_ARGUMENTS')
    return false
  }
  const query = new Query(text)
  const negotiated = negotiate(headers.accept, query.last('format'))
  if (!negotiated.ok) {
    sendError(reply, negotiated.code)
    return false
  }
  request.asked = { kind, query, form: negotiated.form }
  return true
}

async function answer(parts: Parts, request: FastifyRequest, reply: FastifyReply, find: Find): Promise<FastifyReply> {
  const { asked } = request
  if (asked === null) throw bug('a request of the content files was not negotiated')
  let found: Found
  try {
    found = await find(request, asked)
  } catch (error) {
    found = { answer: failure(parts, error), part: undefined }
  }
  if (found.answer.status === 503) setRetryAfter(reply, contentFileErrors.UNAVAILABLE.retryAfterSeconds)
  return await send(parts, request, reply, { ...asked, ...found })
}

/** PostgreSQL may be unavailable for a while. Any other error is a bug. */
function failure({ log }: Parts, error: unknown): Answer {
  if (isUnavailable(error)) return errorAnswer('UNAVAILABLE')
  log.error({ err: error }, 'content-files request failed')
  return errorAnswer('INTERNAL')
}

async function send(
  { indexHolder, findVisitor }: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  { kind, query, form, answer, part }: OperationInput & Found,
): Promise<FastifyReply> {
  if (form.kind === 'json') return sendJson(reply, answer, form.indent)
  const { method, originalUrl: url } = request
  // The page of an error is shown without a form if the index is unavailable.
  const choices = kind === 'list' ? await indexHolder.current().catch(() => undefined) : undefined
  const page = createPage({ kind, method, url, query, answer, choices, part })
  reply.code(answer.status).header('content-security-policy', contentSecurityPolicy)
  const visitor = await findVisitor?.(request.raw)
  reply.header('vary', 'Accept, Accept-Language')
  return sendHtml(reply, renderPage(page, visitor, wordsFor(request.raw, visitor?.language)))
}
