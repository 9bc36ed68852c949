/** A server that stands in for another one: it records each request and gives the test's answer. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestHooks } from './databases.ts'

export interface SeenRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

interface ServerAnswer {
  status?: number
  text: string
  headers?: Record<string, string>
}

/** `answerOf` returns undefined if it uses the response itself or leaves it open. `index` counts requests from 0. */
export async function startAnswering(
  t: TestHooks,
  answerOf: (request: SeenRequest, index: number, response: ServerResponse) => ServerAnswer | undefined,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<{ url: string; seen: SeenRequest[] }> {
  const seen: SeenRequest[] = []
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const index = seen.push({ method, url, headers, body: await text(request) }) - 1
    const given = answerOf(seen[index] as SeenRequest, index, response)
    if (given === undefined) return
    response.writeHead(given.status ?? 200, { 'content-type': 'application/json', ...given.headers }).end(given.text)
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => undefined))
  await new Promise<void>(done => server.listen(port, host, done))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise(done => server.close(done))
  })
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, seen }
}
