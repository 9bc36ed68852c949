/** The route of a read, declared once: what it is about, what it may be asked, and what answers it. */

import assert from 'node:assert/strict'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answerPreflight } from '../http/cors.ts'
import { addMethodNotAllowed } from '../http/method-not-allowed.ts'
import { hasTooManyArguments } from '../http/query-limits.ts'
import { unknownParameter } from '../http/unknown-parameters.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse, type Sent } from './read-answers.ts'
import type { Subject } from './read-subjects.ts'

export interface Read<About> {
  url: string
  subject: Subject<About>
  /** Names of its parameters in the query string, beside those of the subject. */
  parameters: readonly string[]
  /** A read of the interface as given: while everybody may read, it ignores parameters that it does not know. */
  ignoresUnknown?: boolean
  /** It asks for the parameters and the query string that its path has. */
  handler(about: About, request: never, reply: FastifyReply): Sent
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of a read: what it is about, and all its parameters in the query string. */
    read?: { readonly subject: Subject<unknown>; readonly parameters: readonly string[] }
  }
}

/** With and without a slash at its end, as the server has it for every path. */
export function addRead<About>(app: FastifyInstance, access: ReadAccess, read: Read<About>): void {
  const { url, subject, ignoresUnknown = false } = read
  const parameters = [...subject.parameters, ...read.parameters]
  const handler = read.handler as (about: About, request: FastifyRequest, reply: FastifyReply) => Sent
  // Where it matters who reads, a parameter that is not known cannot have been meant to narrow what is read.
  const isStrict = !(ignoresUnknown && access.isOpen)
  app.route({
    ...{ method: 'GET', url, config: { read: { subject, parameters } }, onRequest: boundArguments },
    handler(request, reply) {
      const unknown = isStrict ? unknownParameter(request.query as object, parameters) : undefined
      if (unknown !== undefined) return refuse(reply, 'PARAMETER_INVALID', unknown)
      const resolved = subject.resolve(request, access.readerOf(request))
      return resolved.ok ? handler(resolved.about, request, reply) : refuse(reply, resolved.code, resolved.text)
    },
  })
  answerPreflight(app, url)
  addMethodNotAllowed(app, url, ['GET', 'HEAD', 'OPTIONS'])
}

function boundArguments({ originalUrl }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (hasTooManyArguments(originalUrl)) refuse(reply, 'TOO_MANY_PARAMETERS')
  else done()
}

/** A read that does not say what it is about would be open to everybody who may read anything. */
export function requireSubjects(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    const isRead = [method].flat().includes('GET') && config?.isMethodNotAllowed !== true
    assert(!isRead || config?.read !== undefined, `GET ${url} says what it is about`)
  })
}
