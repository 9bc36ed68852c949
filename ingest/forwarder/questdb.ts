/**
 * The write path to QuestDB: rows by line protocol over one connection, and our own statements beside them. Requests have a
 * separate transport here: they are streamed from reused buffers and must not be aborted while they make progress. Aborted
 * requests are reset, so that QuestDB does not accept them after they were sent again.
 */

import * as http from 'node:http'
import * as https from 'node:https'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import { createQuestdbClient, type SqlRow } from '../../store/questdb/client/questdb-client.ts'
import { codeOfStatus } from '../../store/questdb/client/questdb-error.ts'
import type { Sleeper, Timing } from '../timing.ts'
import type { RequestBody } from './write-request.ts'

/**
 * `stored`: sequenced by QuestDB (204), not yet applied. `refused`: QuestDB rejects the rows as invalid (400). `failed`: any
 * other final failure; `status` is undefined when the rows never left. `unanswered`: QuestDB may have accepted the rows, or may
 * still do so.
 */
export type WriteAnswer =
  | { kind: 'stored' }
  | { kind: 'refused'; message: string }
  | { kind: 'failed'; status: number | undefined; message: string }
  | { kind: 'unanswered'; message: string }

export interface QuestdbConnection {
  write(rows: RequestBody): Promise<WriteAnswer>
  /** Rows of a statement as arrays. Rejects without a valid answer. */
  query(sql: string): Promise<readonly SqlRow[]>
  /** Outstanding requests stay unanswered, and nothing is sent any more. */
  close(): void
}

/** An answer is short. A proxy's error page is cut here. */
const answerBytesMax = 1024 * 1024

/**
 * A request is aborted when no byte of it or of its answer has moved for `idleMs`: over a slow link a large request may take
 * long. Bytes accepted by the system count as moved, even if they wait there.
 */
export function connectQuestdb(address: QuestdbHttp, idleMs: number): QuestdbConnection {
  const client = address.tls ? https : http
  const agent = new client.Agent({ keepAlive: true, maxSockets: 1 })
  const statements = createQuestdbClient(address, 1)
  const authorization = address.authorization === undefined ? {} : { authorization: address.authorization }
  const outstanding = new Set<http.ClientRequest>()
  let closed = false

  function post(body: RequestBody, onConnected: () => void): Promise<{ status: number; text: string }> {
    if (closed) return Promise.reject(new Error('the connection is closed'))
    return new Promise((resolve, reject) => {
      const headers = { ...authorization, 'content-length': body.length }
      const { host, port } = address
      const path = '/write?precision=u'
      const sent = client.request({ agent, host, port, method: 'POST', path, headers, timeout: idleMs })
      outstanding.add(sent)
      sent.once('close', () => outstanding.delete(sent))
      sent.on('error', reject)
      sent.on('timeout', () => abort(sent, new Error(`nothing went to or came from QuestDB for ${idleMs} ms`)))
      sent.on('socket', socket => {
        if (socket.connecting) socket.once('connect', onConnected)
        else onConnected()
      })
      sent.on('response', response => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => {
          if (text.length < answerBytesMax) text += piece
        })
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text })
          // The answer does not depend on the rest of the rows.
          if (!sent.writableEnded) sent.destroy()
        })
        response.on('error', reject)
      })
      sendPieces(sent, body).catch((error: Error) => sent.destroy(error))
    })
  }

  return {
    async write(rows) {
      let isConnected = false
      const onConnected = () => {
        isConnected = true
      }
      try {
        const { status, text } = await post(rows, onConnected)
        if (status === 204) return { kind: 'stored' }
        const message = text.slice(0, 500)
        const code = codeOfStatus(status)
        if (code === 'REFUSED') return { kind: 'refused', message }
        return code === 'NO_ANSWER' ? { kind: 'unanswered', message } : { kind: 'failed', status, message }
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        return isConnected ? { kind: 'unanswered', message } : { kind: 'failed', status: undefined, message }
      }
    },
    query: sql => statements.exec(sql, idleMs),
    close() {
      closed = true
      for (const sent of outstanding) abort(sent, new Error('the connection was closed before an answer'))
      agent.destroy()
      statements.close()
    },
  }
}

/** Resets the connection, so that the system discards its buffers: QuestDB would otherwise accept their content later. */
function abort(sent: http.ClientRequest, error: Error): void {
  const { socket } = sent
  // A TLS connection is closed, since it cannot be reset from here.
  if (socket !== null && !('encrypted' in socket)) socket.resetAndDestroy()
  sent.destroy(error)
}

/** A piece that the system has not accepted yet must stay unchanged, so the piece after the next waits for it. */
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

export interface QuiesceOptions {
  /** A small query. Throws when QuestDB does not answer. */
  query: () => Promise<unknown>
  sleeper: Sleeper
  timing: Timing
}

/** Interval of the queries. A slower answer counts as slow. */
const stepMs = 200
const slowAnswerMs = 1000
const waitMsMax = 60_000

/**
 * Waits until QuestDB has answered promptly and repeatedly for this long: by then it has accepted or dropped everything sent
 * before on a closed connection. Rows accepted later, after newer ones with the same series and time, would undo these. A stopped
 * process answers nothing. Where every answer is slow, one minute suffices.
 */
export async function quiesce({ query, sleeper, timing }: QuiesceOptions, ms: number): Promise<void> {
  const { monotonicMs } = timing
  const endMs = monotonicMs() + waitMsMax
  for (let promptMs = 0; promptMs < ms && !sleeper.stopped; promptMs += stepMs) {
    const queriedAtMs = monotonicMs()
    const answered = await query().then(
      () => true,
      () => false,
    )
    await sleeper.sleep(stepMs)
    const isSlow = monotonicMs() - queriedAtMs > slowAnswerMs && monotonicMs() < endMs
    if (!answered || isSlow) promptMs = -stepMs
  }
}
