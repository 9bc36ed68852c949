/** The parts of a server's scope that a family may use: parsers, hooks and error handlers, but no routes. */

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
