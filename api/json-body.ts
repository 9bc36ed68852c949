/**
 * JSON bodies, strictly: UTF-8 without faults (a lenient decoder would store U+FFFD for what somebody sent), nothing
 * compressed, and a body that dribbles in is given up after a few seconds.
 */

import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'

class BodyError extends Error {
  readonly statusCode: number
  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** How long a body may take. Streamed imports are no JSON bodies and have no such limit. */
const bodyMsMax = 5000
const sweepMs = 1000

/** Replaces the JSON parser of this scope, and drops the one for plain text. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    arriving.delete(request)
    try {
      done(null, parseJson(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })

  // One sweep for all requests costs less than a timer for each, and than hooks for how each of them ends: one that was
  // refused or left stands here until its time is over.
  const arriving = new Map<FastifyRequest, number>()
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const { headers } = request
    const coding = headers['content-encoding']
    if (coding !== undefined && coding.toLowerCase() !== 'identity') {
      done(new BodyError(415, 'unsupported content encoding'))
      return
    }
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    if (hasBody) arriving.set(request, performance.now() + bodyMsMax)
    done()
  })
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const [request, deadline] of arriving) {
      if (deadline > now) break // They stand in the order in which they came.
      arriving.delete(request)
      // After a whole one the connection may be at another request by now.
      if (!request.raw.complete) request.raw.destroy()
    }
  }, sweepMs)
  sweep.unref()
  app.addHook('onClose', (_app, done) => {
    clearInterval(sweep)
    done()
  })
}

function parseJson(body: Buffer): unknown {
  // Many clients name JSON as the type of every request, also of one that has no body.
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw new BodyError(400, 'invalid json')
  try {
    return JSON.parse(body.toString())
  } catch {
    throw new BodyError(400, 'invalid json')
  }
}
