/** A client of the reads that sends paths and headers unchanged, where `fetch` would decode, normalise and add headers. */

import { once } from 'node:events'
import http from 'node:http'
import type t from 'tap'
import { validatedRead } from '../../support/answer-shapes.ts'
import { holdAnswer } from '../../support/held-answers.ts'

export interface Read {
  status: number
  headers: http.IncomingHttpHeaders
  bytes: Buffer
  /** The body of a read is checked against its schema. */
  json(): unknown
}

export type ReadClient = (path: string, headers?: Record<string, string>, method?: string) => Promise<Read>

/** Paths are below `/api`. */
export function readClient(port: number): ReadClient {
  return async (path, headers = {}, method = 'GET') => {
    const request = http.request({ port, host: '127.0.0.1', path: `/api${path}`, headers, method, agent: false })
    request.end()
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    const status = response.statusCode ?? 0
    holdAnswer({ method, url: `/api${path}`, status, headers: response.headers, body: bytes })
    return {
      status,
      headers: response.headers,
      bytes,
      json() {
        const answer: unknown = JSON.parse(bytes.toString())
        return status === 200 ? validatedRead(path, answer) : answer
      },
    }
  }
}

type Assertions = Pick<typeof t, 'equal' | 'match' | 'strictSame'>

/** Asserts that a path is rejected in the logger's shape, with a sentence that has this word. */
export function refusing(ask: ReadClient) {
  return async (t: Assertions, path: string, status: number, word: RegExp): Promise<Read> => {
    const answer = await ask(path)
    t.equal(answer.status, status, path)
    t.match(answer.json(), { status: word }, path)
    t.strictSame(Object.keys(answer.json() as object), ['status'])
    t.equal(answer.headers['cache-control'], 'no-store')
    t.equal(answer.headers['access-control-allow-origin'], '*')
    return answer
  }
}
