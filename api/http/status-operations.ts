/** Declares operations of the logger API, with reads and writes under one prefix. Each has its own handler. */

import type { onRequestHookHandler, RouteHandlerMethod } from 'fastify'
import { refuseMethod } from './method-not-allowed.ts'
import type { Operation } from './operation.ts'
import type { Rules } from './register-operations.ts'
import type { LoggerErrorCode } from './status-errors.ts'

interface Handled extends Operation<LoggerErrorCode> {
  onRequest: onRequestHookHandler
  handler: RouteHandlerMethod
}

export interface WriteOperation extends Handled {
  method: 'PUT' | 'POST'
}

/** The type requires a subject: a read without one would be open to every reader. */
export interface ReadOperation extends Handled {
  method: 'GET'
  subject: { readonly of: 'device' | 'devices' | 'fleet' | 'station' }
  preflight: RouteHandlerMethod
}

/** Declaration of an operation without its handler. */
export type Declared<Handling extends Handled> = Omit<Handling, 'onRequest' | 'handler'>

export type LoggerOperation = ReadOperation | WriteOperation

export const loggerRules: Rules<LoggerOperation> = {
  onRequest: ({ onRequest }) => onRequest,
  handler: ({ handler }) => handler,
  preflight: ([operation]) => (operation?.method === 'GET' ? operation.preflight : undefined),
  refuseMethod: (_request, reply, allowed) => refuseMethod(reply, allowed),
}
