/** A receiver of notifications: an HTTP server that notes each request, and answers, or does not, as the test says. */

import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestHooks } from './databases.ts'

interface ReceivedNotification {
  path: string
  headers: IncomingHttpHeaders
  body: string
}

export interface AlertReceiver {
  /** `http://127.0.0.1:port` */
  origin: string
  port: number
  received: ReceivedNotification[]
  /** From here on; without one, 204. */
  answer: (response: ServerResponse, received: ReceivedNotification) => void
}

export async function startReceiver(t: TestHooks, host = '127.0.0.1', port = 0): Promise<AlertReceiver> {
  const received: ReceivedNotification[] = []
  const server: Server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      const notification = { path: request.url ?? '', headers: request.headers, body }
      received.push(notification)
      receiver.answer(response, notification)
    })
  })
  await new Promise<void>(resolve => server.listen(port, host, resolve))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  const { port: taken } = server.address() as AddressInfo
  const receiver: AlertReceiver = {
    origin: `http://${host}:${taken}`,
    port: taken,
    received,
    answer: response => void response.writeHead(204).end(),
  }
  return receiver
}
