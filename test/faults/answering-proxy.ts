/** A QuestDB with injected answers, with the real one behind it for everything else. */

import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestHooks } from '../support/databases.ts'
import type { Target } from './tcp-proxy.ts'

interface Refusal {
  status: number
  message: string
}

export interface AnsweringProxy {
  port: number
  /** Decides on a write before it is passed on; undefined passes it. */
  decide: (body: Buffer) => Refusal | undefined
  refused: number
}

export async function startAnsweringProxy(t: TestHooks, target: Target): Promise<AnsweringProxy> {
  const agent = new http.Agent({ keepAlive: true })
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', piece => pieces.push(piece))
    request.on('error', () => response.destroy())
    request.on('end', () => {
      const body = Buffer.concat(pieces)
      const refusal = request.url?.startsWith('/write') === true ? proxy.decide(body) : undefined
      if (refusal !== undefined) {
        proxy.refused++
        response.writeHead(refusal.status, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ code: 'invalid', message: refusal.message }))
        return
      }
      const { method, url: path, headers } = request
      const passed = http.request({ agent, host: '127.0.0.1', port: target, method, path, headers }, answer => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
        answer.on('error', () => response.destroy())
      })
      passed.on('error', () => response.destroy())
      passed.end(body)
    })
  })
  const proxy: AnsweringProxy = { port: 0, decide: () => undefined, refused: 0 }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy.port = (server.address() as AddressInfo).port
  t.teardown(() => {
    agent.destroy()
    server.closeAllConnections()
    server.close()
  })
  return proxy
}
