/** An operation of the server itself, without checks and credentials. */

import type { RouteHandlerMethod } from 'fastify'
import type { ServerErrorCode } from './errors.ts'
import type { Operation } from './operation.ts'

export interface ServerOperation extends Operation<ServerErrorCode> {
  handler: RouteHandlerMethod
}
