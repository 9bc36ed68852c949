/**
 * QuestDB over HTTP: our own statements by `/exec`, never with a caller's text in them, small writes, and other answers as
 * streams.
 */

import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { QuestdbHttp } from './questdb-address.ts'
import { codeOfMessage, codeOfStatus, QuestdbError, questdbError } from './questdb-error.ts'

export type SqlRow = readonly (string | number | boolean | null)[]

export interface QuestdbClient {
  /** Rejects with a QuestdbError, like `write`. */
  exec(sql: string, timeoutMs: number): Promise<readonly SqlRow[]>
  /**
   * Sends rows in line protocol, with times in microseconds. Resolves when QuestDB has accepted them, possibly before they are
   * visible.
   */
  write(rows: string, timeoutMs: number): Promise<void>
  /** Resolves at the head of the answer, for any status. The caller reads the body. */
  get(path: string, options: GetOptions): Promise<IncomingMessage>
  /** Aborts requests in progress. */
  close(): void
}

interface GetOptions {
  /** Aborts the request and its answer. */
  readonly signal: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
  readonly connectTimeoutMs?: number
}

const answerBytesMax = 4 * 1024 * 1024

export function createQuestdbClient(address: QuestdbHttp, connectionsMax = 2): QuestdbClient {
  const module = address.tls ? https : http
  const agent = new module.Agent({ keepAlive: true, maxSockets: connectionsMax })
  const authorization = address.authorization === undefined ? {} : { authorization: address.authorization }

  function get(path: string, { signal, headers, connectTimeoutMs }: GetOptions): Promise<IncomingMessage> {
    const { host, port } = address
    return new Promise((resolve, reject) => {
      const request = module.get({ host, port, path, agent, signal, headers: { ...headers, ...authorization } })
      request.on('error', error => reject(signal.aborted ? new QuestdbError('CANCELLED', path) : questdbError(error)))
      request.on('response', resolve)
      if (connectTimeoutMs !== undefined) limitConnecting(request, connectTimeoutMs)
    })
  }

  async function exec(sql: string, timeoutMs: number): Promise<readonly SqlRow[]> {
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const response = await get(`/exec?query=${encodeURIComponent(sql)}`, { signal })
      return rowsIn(response.statusCode ?? 0, await textOf(response))
    } catch (error) {
      throw signal.aborted ? new QuestdbError('NO_ANSWER', `no answer within ${timeoutMs} ms`) : questdbError(error)
    }
  }

  async function write(rows: string, timeoutMs: number): Promise<void> {
    const signal = AbortSignal.timeout(timeoutMs)
    const { host, port } = address
    const path = '/write?precision=u'
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const request = module.request({ host, port, path, method: 'POST', agent, signal, headers: authorization })
        request.on('error', reject)
        request.on('response', resolve)
        request.end(rows)
      })
      const text = await textOf(response)
      const code = codeOfStatus(response.statusCode ?? 0)
      if (code !== undefined) throw new QuestdbError(code, text.slice(0, 500))
    } catch (error) {
      throw signal.aborted ? new QuestdbError('NO_ANSWER', `no answer within ${timeoutMs} ms`) : questdbError(error)
    }
  }

  return { exec, write, get, close: () => agent.destroy() }
}

function limitConnecting(request: http.ClientRequest, timeoutMs: number): void {
  request.on('socket', socket => {
    if (!socket.connecting) return
    const giveUp = () => request.destroy(new QuestdbError('NO_ANSWER', 'it does not accept a connection'))
    const timer = setTimeout(giveUp, timeoutMs)
    request.on('close', () => clearTimeout(timer))
    socket.once('connect', () => clearTimeout(timer))
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > answerBytesMax) throw new QuestdbError('FAILED', `an answer of more than ${answerBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function rowsIn(status: number, text: string): readonly SqlRow[] {
  const code = codeOfStatus(status)
  if (code === 'ACCESS_DENIED') throw new QuestdbError(code, `it refuses the user or the password (${status})`)
  const answer = parseAnswer(text)
  if (answer === undefined) throw new QuestdbError(code ?? 'FAILED', `it answers, but not as a QuestDB (${status})`)
  if (answer.error !== undefined) throw new QuestdbError(codeOfMessage(answer.error), answer.error)
  return answer.dataset ?? []
}

function parseAnswer(text: string): { dataset?: SqlRow[]; error?: string } | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    const known =
      typeof answer === 'object' && answer !== null && ['ddl', 'dml', 'dataset', 'error'].some(key => key in answer)
    return known ? (answer as { dataset?: SqlRow[]; error?: string }) : undefined
  } catch {
    return undefined
  }
}
