/** What a family of operations may do with a scope of the server: parsers, hooks and handlers of errors, but no routes. */

import type { FastifyInstance } from 'fastify'

export type Scope = Pick<
  FastifyInstance,
  | 'addContentTypeParser'
  | 'addHook'
  | 'decorate'
  | 'decorateRequest'
  | 'removeAllContentTypeParsers'
  | 'setErrorHandler'
  | 'setNotFoundHandler'
>
