/** A server that stands in for the service: it notes each request and answers as it is told. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestHooks } from '../../support/databases.ts'

export interface SeenRequest {
  url: string | undefined
  headers: IncomingHttpHeaders
  body: string
}

interface ServerAnswer {
  status: number
  text: string
  headers?: Record<string, string>
}

/** `index` counts requests from 0. */
export async function startAnswering(
  t: TestHooks,
  answerOf: (request: SeenRequest, index: number, response: ServerResponse) => ServerAnswer,
): Promise<{ url: string; seen: SeenRequest[] }> {
  const seen: SeenRequest[] = []
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const piece of request) body += String(piece)
    const index = seen.push({ url: request.url, headers: request.headers, body }) - 1
    const { status, text, headers = {} } = answerOf(seen[index] as SeenRequest, index, response)
    response.writeHead(status, headers).end(text)
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise(done => server.close(done))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}
