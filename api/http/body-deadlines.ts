/** Limits the duration of a body, and throws errors of unreadable bodies. */

import type { IncomingMessage } from 'node:http'
import { createDeadlines } from './deadlines.ts'
import type { Scope } from './scope.ts'

export class BodyError extends Error {
  readonly statusCode: number

  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** Limit for JSON. Streamed imports have none. */
const jsonMsMax = 5_000

export interface BodyDeadlines {
  /** Called when the head of a request with a body has arrived. */
  start(request: IncomingMessage): void
  /** Called when the whole body has arrived. A refused body stays until its deadline. */
  finish(request: IncomingMessage): void
}

/** A body of this scope beyond its deadline is an error with the status 408. */
export function createBodyDeadlines(scope: Scope, bodyMsMax = jsonMsMax): BodyDeadlines {
  const deadlines = createDeadlines<IncomingMessage>(bodyMsMax, giveUp)
  scope.addHook('onClose', (_scope, done) => {
    deadlines.close()
    done()
  })
  return { start: deadlines.add, finish: deadlines.delete }
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function giveUp(request: IncomingMessage): void {
  // The connection may be at another request by now.
  if (request.complete) return
  // The reader of the body stops at the error and answers. Without a reader the answer was sent before.
  if (request.listenerCount('error') > 0) request.emit('error', new BodyError(408, 'the body did not arrive in time'))
  else request.destroy()
}
