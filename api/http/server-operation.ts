/** An operation of the server itself: it has nothing to check, and nobody to ask for first. */

import type { RouteHandlerMethod } from 'fastify'
import type { ServerErrorCode } from './errors.ts'
import type { Operation } from './operation.ts'

export interface ServerOperation extends Operation<ServerErrorCode> {
  handler: RouteHandlerMethod
}
