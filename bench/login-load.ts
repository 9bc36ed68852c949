/**
 * People who log in all the time, in a separate process: each sends the next request when the last one is answered,
 * and after a 503 when its `Retry-After` says. Begins at the first message of its parent and answers with a
 * `LoginResult` at the second.
 */

import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface LoginOrder {
  port: number
  /** One person each. */
  emails: string[]
  password: string
}

export interface LoginResult {
  statuses: Record<string, number>
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
const statuses: Record<string, number> = {}
let isOver = false

function login({ port, password }: LoginOrder, email: string): Promise<{ status: number; retryAfterMs: number }> {
  const body = JSON.stringify({ email, password })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method: 'POST', path: '/v1/auth/login', headers, agent }
    const sent = request(options, answer => {
      const retryAfterMs = Number(answer.headers['retry-after'] ?? 0) * 1000
      answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0, retryAfterMs }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function person(order: LoginOrder, email: string): Promise<void> {
  while (!isOver) {
    const { status, retryAfterMs } = await login(order, email)
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status !== 200) await sleep(retryAfterMs)
  }
}

async function load(order: LoginOrder): Promise<void> {
  await Promise.all(order.emails.map(email => person(order, email)))
  agent.destroy()
  const result: LoginResult = { statuses }
  process.send?.(result)
}

// The parent may be killed.
process.once('disconnect', () => process.exit())
process.once('message', (order: LoginOrder) => {
  process.once('message', () => {
    isOver = true
  })
  load(order).catch((error: Error) => {
    process.stderr.write(`${error.stack}\n`)
    process.exit(1)
  })
})
