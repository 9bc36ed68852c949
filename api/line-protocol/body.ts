/** Bodies in memory: each of them up to a size, and all of them together up to another. */

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { createBodyDeadlines } from '../http/body-deadlines.ts'

interface HeldBody {
  kind: 'body'
  /** Owns its memory, so that it can be handed to a thread. */
  bytes: Uint8Array<ArrayBuffer>
  /** Call it when the body is not needed any more. */
  release(): void
}

type Body = HeldBody | { kind: 'too large' | 'too many' }

export interface Bodies {
  /** Rejects when the request breaks off or takes too long. */
  read(request: IncomingMessage): Promise<Body>
}

/** The bytes of all bodies that are held at present. */
export interface BodyBudget {
  bytes: number
}

const bodiesOfMaximumSize = 4
/** Links of some sensors are slow. */
const bodyMsMax = 60_000

export function createBodies(scope: FastifyInstance, bodyBytesMax: number, held: BodyBudget): Bodies {
  const deadlines = createBodyDeadlines(scope, bodyMsMax)
  const heldBytesMax = bodiesOfMaximumSize * bodyBytesMax

  async function read(request: IncomingMessage): Promise<Body> {
    if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) return { kind: 'too large' }
    deadlines.start(request)
    const pieces: Buffer[] = []
    let length = 0
    const release = () => {
      held.bytes -= length
      length = 0
    }
    try {
      for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        length += piece.length
        held.bytes += piece.length
        if (length > bodyBytesMax || held.bytes > heldBytesMax) {
          const kind = length > bodyBytesMax ? 'too large' : 'too many'
          release()
          return { kind }
        }
        pieces.push(piece)
      }
    } catch (error) {
      release()
      throw error
    }
    deadlines.finish(request)
    return { kind: 'body', bytes: joined(pieces, length), release }
  }

  return { read }
}

function joined(pieces: readonly Buffer[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
