/** Reads bodies into memory, each up to a size and all of them within a budget. */

import type { IncomingMessage } from 'node:http'
import { bug } from '../../../store/limits/bug.ts'
import type { ByteBudget } from '../../../store/limits/capacity.ts'
import { detachBuffers, ownsBuffer } from '../../../store/limits/detach-buffers.ts'
import { type BodyDeadlines, BodyError, createBodyDeadlines } from '../../http/request-body.ts'
import type { Scope } from '../../http/route-family.ts'

interface HeldBody {
  kind: 'body'
  /** Owns its memory, so it can be transferred to a thread. */
  bytes: Uint8Array<ArrayBuffer>
  /** Call it when the body is not needed any more. */
  release(): void
}

type Body = HeldBody | { kind: 'too large' | 'too many' }

export interface Bodies {
  /** Ends the deadlines of the scope's bodies with it. */
  prepare(scope: Scope): void
  /** Rejects an interrupted request and one that takes too long. */
  read(request: IncomingMessage, credential: string): Promise<Body>
}

/** Links of some sensors are slow. */
const bodyMsMax = 60_000

export function createBodies(bodyBytesMax: number, budget: ByteBudget): Bodies {
  let deadlines: BodyDeadlines | undefined

  async function read(request: IncomingMessage, credential: string): Promise<Body> {
    if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) return { kind: 'too large' }
    const pieces: Buffer[] = []
    let length = 0
    let kind: 'too large' | 'too many' = 'too many'
    const release = () => {
      budget.release(credential, length)
      length = 0
    }
    /** False if a piece exceeds the budget. */
    const take = (piece: Buffer) => {
      if (length + piece.length > bodyBytesMax) {
        kind = 'too large'
        return false
      }
      if (!budget.take(credential, piece.length)) return false
      length += piece.length
      pieces.push(piece)
      return true
    }
    if (deadlines === undefined) throw bug('a body is read in a scope that was not prepared')
    deadlines.start(request)
    try {
      if (await takeAll(request, take)) return { kind: 'body', bytes: joined(pieces, length), release }
    } catch (error) {
      release()
      throw error
    } finally {
      deadlines.finish(request)
    }
    release()
    return { kind }
  }

  return {
    prepare(scope) {
      deadlines = createBodyDeadlines(scope, bodyMsMax)
    },
    read,
  }
}

/** True when all was taken. An iterator of the stream would close the connection before the answer. */
function takeAll(request: IncomingMessage, take: (piece: Buffer) => boolean): Promise<boolean> {
  // The client may have disconnected while its credential was looked up.
  if (request.destroyed) return Promise.reject(brokenOff())
  return new Promise((resolve, reject) => {
    const onData = (piece: Buffer) => {
      if (!take(piece)) settle(() => resolve(false))
    }
    const onEnd = () => settle(() => resolve(true))
    const onError = (error: Error) => settle(() => reject(error instanceof BodyError ? error : brokenOff()))
    const onClose = () => settle(() => reject(brokenOff()))
    const settle = (work: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
      work()
    }
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  })
}

function brokenOff(): BodyError {
  return new BodyError(400, 'the body broke off')
}

function joined(pieces: readonly Buffer[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
    if (ownsBuffer(piece)) detachBuffers([piece])
  }
  return bytes
}
