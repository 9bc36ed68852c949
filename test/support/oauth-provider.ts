/** The provider of a drive: a real HTTP server that gives tokens for codes, or does what a test tells it. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestHooks } from './databases.ts'

export async function startProvider(t: TestHooks) {
  /** Those that it was sent. */
  const forms: Record<string, string>[] = []
  let answer: (response: ServerResponse) => void = () => undefined
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    forms.push(Object.fromEntries(new URLSearchParams(await text(request))))
    answer(response)
  }
  const server = createServer((request, response) => void respond(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forms,
    /** Sets how it answers from now on. */
    answerWith(next: typeof answer) {
      answer = next
    },
  }
}
