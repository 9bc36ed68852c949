/** A receiver of notifications: an HTTP server that records each request and answers, or does not, as the test decides. */

import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { startAnswering } from './answering-server.ts'
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
  answer: (response: ServerResponse, received: ReceivedNotification) => void
}

export async function startReceiver(t: TestHooks, host = '127.0.0.1', port = 0): Promise<AlertReceiver> {
  const received: ReceivedNotification[] = []
  const { url } = await startAnswering(
    t,
    ({ url: path, headers, body }, _index, response) => {
      const notification = { path, headers, body }
      received.push(notification)
      receiver.answer(response, notification)
      return undefined
    },
    { host, port },
  )
  const receiver: AlertReceiver = {
    origin: url,
    port: Number(new URL(url).port),
    received,
    answer: response => void response.writeHead(204).end(),
  }
  return receiver
}
