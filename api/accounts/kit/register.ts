/** Runs operations: orders the checks of a request and sends the answer. */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { authorize } from '../../../auth/policy.ts'
import { networkOf } from '../../../store/limits/networks.ts'
import type { Log } from '../../../store/log.ts'
import type { FindPrincipal } from '../../credentials/find-principal.ts'
import { allowPreflight, isPreflight, type Origins } from '../../credentials/origins.ts'
import { readCookie } from '../../http/credentials.ts'
import type { Rules, Scope } from '../../http/route-family.ts'
import { addRawBody, contentTypeOf, parseBody } from './body.ts'
import { type ErrorCode, failureOf, sendError } from './errors.ts'
import type { AccountOperation, Answer, OperationInput, Page } from './operation.ts'
import { type Checked, check, errorAt, missing, type ValidationError, withoutSecrets } from './validation.ts'

export interface KitOptions {
  findPrincipal: FindPrincipal
  origins: Origins
  log: Log
}

export function accountRules(kit: KitOptions): Rules<AccountOperation> {
  return {
    head: 'refused',
    onRequest: () => redirectSlash,
    handler: operation => (request, reply) => answer(operation, kit, request, reply),
    refuseMethod(request, reply, allowed) {
      if (isSlashed(request)) return redirect(request, reply)
      if (isPreflight(request)) {
        return kit.origins.isListed(request.headers.origin)
          ? allowPreflight(reply, allowed)
          : sendError(reply, 'ORIGIN_UNKNOWN')
      }
      return sendUnread(reply.header('allow', allowed.join(', ')), 'METHOD_NOT_ALLOWED')
    },
  }
}

/** The scope's paths exclude the prefix of the family. */
export function prepareScope(scope: Scope, { origins, log }: KitOptions): void {
  addRawBody(scope)
  answerErrors(scope, log)
  scope.addHook('onRequest', (request, reply, done) => {
    reply.header('cache-control', 'no-store')
    origins.mark(request, reply)
    done()
  })
  scope.setNotFoundHandler((_request, reply) => sendUnread(reply, 'NOT_FOUND'))
}

async function answer(
  operation: AccountOperation,
  kit: KitOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const parsed = operation.body && parseBody(request.body as Buffer | undefined, contentTypeOf(request))
  if (parsed?.kind === 'bad-text') return sendError(reply, 'BODY_UNREADABLE')
  if (parsed?.kind === 'bad-json') return sendInvalid(reply, [parsed.error])
  const identify = () => kit.findPrincipal(request.raw)
  const principal = operation.permission && (await identify())
  const isCrossSite = kit.origins.isCrossSite(request)
  if (operation.permission !== undefined) {
    const decision = authorize(operation.permission, principal)
    if (decision !== 'allowed') return sendError(reply, decision)
    if (principal?.kind === 'session' && operation.method !== 'GET' && isCrossSite)
      return sendError(reply, 'CROSS_SITE')
  }
  const path = checkSent(operation.parameters?.path, 'path', request.params)
  const query = checkSent(operation.parameters?.query, 'query', request.query)
  const sent = parsed?.kind === 'object' ? parsed.value : undefined
  const body: Checked<unknown> =
    parsed?.kind === 'no-object' ? { ok: false, errors: [parsed.error] } : checkBody(operation, sent)
  const errors = [path, query, body].flatMap(part => (part.ok ? [] : part.errors))
  if (!path.ok || !query.ok || !body.ok) return sendInvalid(reply, errors)
  const asked: OperationInput = {
    path: path.value,
    query: query.value,
    body: body.value,
    principal,
    identify,
    isCrossSite,
    client: clientOf(request),
    cookie: name => readCookie(request.headers.cookie, name),
  }
  return send(operation, reply, sent, await operation.handle(asked))
}

function checkSent(schema: z.ZodType | undefined, place: 'path' | 'query', input: unknown): Checked<unknown> {
  return schema === undefined ? { ok: true, value: undefined } : check(schema, place, input as object)
}

function checkBody({ body, aliases }: AccountOperation, value: object | undefined): Checked<unknown> {
  const schema = body?.json
  return schema === undefined ? { ok: true, value: undefined } : check(schema, 'body', value ?? {}, aliases)
}

export function clientOf({ ip, headers }: FastifyRequest): OperationInput['client'] {
  return { address: ip, network: networkOf(ip), userAgent: headers['user-agent'] }
}

function send(
  { success }: AccountOperation,
  reply: FastifyReply,
  body: object | undefined,
  answer: Answer,
): FastifyReply {
  if (!answer.ok) {
    if (answer.code !== 'FIELD_MISSING') {
      return sendError(reply, answer.code, 'retryAfterSeconds' in answer ? answer.retryAfterSeconds : undefined)
    }
    const { field } = answer as { field: string }
    return sendInvalid(reply, [errorAt(['body', field], missing, withoutSecrets(body ?? null))])
  }
  if (answer.cookies !== undefined) reply.header('set-cookie', [...answer.cookies])
  if ('page' in answer) return sendPage(reply, answer.page)
  reply.code(success.status)
  if ('location' in answer) return reply.header('location', answer.location).send()
  return success.status === 204 ? reply.send() : reply.send(answer.value)
}

function sendPage(reply: FastifyReply, { status, headers, html }: Page): FastifyReply {
  return reply.code(status).headers(headers).type('text/html; charset=utf-8').send(html)
}

function sendInvalid(reply: FastifyReply, errors: readonly ValidationError[]): FastifyReply {
  return reply.code(422).send({ detail: errors })
}

/** The body stays unread, so the connection cannot be used again. */
function sendUnread(reply: FastifyReply, code: ErrorCode): FastifyReply {
  return sendError(reply.header('connection', 'close'), code)
}

/** The router ignores a final slash. The interface redirects such a request to the other form. */
function isSlashed({ originalUrl }: FastifyRequest): boolean {
  return pathOf(originalUrl).endsWith('/')
}

function pathOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}

async function redirectSlash(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  return isSlashed(request) ? await redirect(request, reply) : undefined
}

function redirect({ originalUrl }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = pathOf(originalUrl)
  const location = `${path.slice(0, -1)}${originalUrl.slice(path.length)}`
  return reply.code(307).header('location', location).header('connection', 'close').send()
}

function answerErrors(scope: Scope, log: Log): void {
  scope.setErrorHandler((error: FastifyError, _request, reply) => {
    const { code, isUnread, retryAfterSeconds } = failureOf(error)
    if (code === 'INTERNAL') log.error({ err: error }, 'a request of the account service failed')
    return isUnread ? sendUnread(reply, code) : sendError(reply, code, retryAfterSeconds)
  })
}
