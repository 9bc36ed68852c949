/** One connection to QuestDB over HTTP: rows in by line protocol, small questions by SQL. */

import * as http from 'node:http'
import * as https from 'node:https'
import type { RequestBody } from './request-body.ts'

/** Where QuestDB is. Plain data, so that it can be handed to a thread. */
export interface QuestdbHttp {
  host: string
  port: number
  tls: boolean
  /** Value of the Authorization header. */
  authorization: string | undefined
}

/**
 * `stored`: sequenced by QuestDB (204), not yet applied. `refused`: the rows themselves are at fault, as QuestDB says
 * (400). `failed`: anything else that is over; `status` is undefined when the rows never left. `unanswered`: QuestDB may
 * have taken the rows, or may take them yet.
 */
export type WriteAnswer =
  | { kind: 'stored' }
  | { kind: 'refused'; message: string }
  | { kind: 'failed'; status: number | undefined; message: string }
  | { kind: 'unanswered'; message: string }

export interface QuestdbConnection {
  write(rows: RequestBody): Promise<WriteAnswer>
  /** Rows of a statement as arrays; throws when there is no good answer. */
  query(sql: string): Promise<unknown[][]>
  /** What is outstanding stays unanswered, and nothing is sent any more. */
  close(): void
}

/** What a proxy answers when it has no answer itself: badGateway, gatewayTimeout. */
const proxyHasNoAnswer = new Set([502, 504])

/** An answer is short; a proxy's error page is cut here. */
const answerBytesMax = 1024 * 1024

/**
 * A request is given up when no byte of it or of its answer has moved for `idleMs`: how long a large one takes over a slow
 * link says nothing. What the system has taken from us counts as moved, though it may wait there.
 */
export function connectQuestdb(address: QuestdbHttp, idleMs: number): QuestdbConnection {
  const client = address.tls ? https : http
  const agent = new client.Agent({ keepAlive: true, maxSockets: 1 })
  const authorization = address.authorization === undefined ? {} : { authorization: address.authorization }
  const outstanding = new Set<http.ClientRequest>()
  let closed = false

  function request(
    method: string,
    path: string,
    body: RequestBody | undefined,
    onConnected?: () => void,
  ): Promise<{ status: number; text: string }> {
    if (closed) return Promise.reject(new Error('the connection is closed'))
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': body.length }
      const headers = { ...authorization, ...length }
      const { host, port } = address
      const sent = client.request({ agent, host, port, method, path, headers, timeout: idleMs })
      outstanding.add(sent)
      sent.once('close', () => outstanding.delete(sent))
      sent.on('error', reject)
      sent.on('timeout', () => giveUp(sent, new Error(`nothing went to or came from QuestDB for ${idleMs} ms`)))
      sent.on('socket', socket => {
        if (socket.connecting) socket.once('connect', () => onConnected?.())
        else onConnected?.()
      })
      sent.on('response', response => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => {
          if (text.length < answerBytesMax) text += piece
        })
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text })
          // The answer does not hang on the rest of the rows.
          if (!sent.writableEnded) sent.destroy()
        })
        response.on('error', reject)
      })
      if (body === undefined) sent.end()
      else sendPieces(sent, body).catch((error: Error) => sent.destroy(error))
    })
  }

  return {
    async write(rows) {
      let isConnected = false
      const onConnected = () => {
        isConnected = true
      }
      try {
        const { status, text } = await request('POST', '/write?precision=u', rows, onConnected)
        if (status === 204) return { kind: 'stored' }
        if (status === 400) return { kind: 'refused', message: text.slice(0, 500) }
        const message = text.slice(0, 500)
        return proxyHasNoAnswer.has(status) ? { kind: 'unanswered', message } : { kind: 'failed', status, message }
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        return isConnected ? { kind: 'unanswered', message } : { kind: 'failed', status: undefined, message }
      }
    },
    async query(sql) {
      const { status, text } = await request('GET', `/exec?query=${encodeURIComponent(sql)}`, undefined)
      if (status !== 200) throw new Error(`QuestDB answered ${status}: ${text.slice(0, 500)}`)
      const answer: { dataset?: unknown[][] } = JSON.parse(text)
      return answer.dataset ?? []
    },
    close() {
      closed = true
      for (const sent of outstanding) giveUp(sent, new Error('the connection was closed before an answer'))
      agent.destroy()
    },
  }
}

/** With a reset, so that what waits in the system's buffers is not sent on: QuestDB would take it at some later time. */
function giveUp(sent: http.ClientRequest, error: Error): void {
  const { socket } = sent
  // Over TLS the connection cannot be reset from here; it is closed.
  if (socket !== null && !('encrypted' in socket)) socket.resetAndDestroy()
  sent.destroy(error)
}

/** A piece that the system has not taken yet must stay as it is, so the next but one waits for it. */
async function sendPieces(sent: http.ClientRequest, body: RequestBody): Promise<void> {
  const closed = new Promise(resolve => sent.once('close', resolve))
  let taken: Promise<unknown> = Promise.resolve()
  for (const piece of body.pieces()) {
    await taken
    if (sent.destroyed) return
    taken = Promise.race([closed, new Promise(resolve => sent.write(piece, resolve))])
  }
  await taken
  sent.end()
}
