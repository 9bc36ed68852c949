/** Operations of the logger API, which brings its reads and its writes under one prefix: each with a handler of its own. */

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

/** A read that did not say what it is about would be open to everybody who may read anything. */
export interface ReadOperation extends Handled {
  method: 'GET'
  subject: { readonly of: 'device' | 'devices' | 'fleet' | 'station' }
  /** Answers OPTIONS. */
  preflight: RouteHandlerMethod
}

/** All but how it is answered. */
export type Declared<Handling extends Handled> = Omit<Handling, 'onRequest' | 'handler'>

export type LoggerOperation = ReadOperation | WriteOperation

export const loggerRules: Rules<LoggerOperation> = {
  onRequest: ({ onRequest }) => onRequest,
  handler: ({ handler }) => handler,
  preflight: ([operation]) => (operation?.method === 'GET' ? operation.preflight : undefined),
  refuseMethod: (_request, reply, allowed) => refuseMethod(reply, allowed),
}
