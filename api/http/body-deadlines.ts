/** The time that a body may take, and the error of a body that cannot be read. */

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

/** Of JSON. Streamed imports have no such limit. */
const jsonMsMax = 5_000

export interface BodyDeadlines {
  /** The head of a request with a body is there. */
  start(request: IncomingMessage): void
  /** All of the body is there. A body that was refused stays until its time is over. */
  finish(request: IncomingMessage): void
}

/** A body of this scope that takes too long is an error with the status 408. */
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
  // After a complete body the connection may be at another request by now.
  if (request.complete) return
  // The reader of the body stops at the error and answers. Without a reader the answer was sent long ago.
  if (request.listenerCount('error') > 0) request.emit('error', new BodyError(408, 'the body did not come in time'))
  else request.destroy()
}
