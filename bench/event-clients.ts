/**
 * Clients of `/api/events` in a separate process that count events. The parent sends an `EventOrder`. The process
 * answers 'connected' once all responses have begun, and on 'stop' returns the events.
 */

import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'

export interface EventOrder {
  port: number
  /** One for each client. */
  paths: string[]
}

const marker = Buffer.from('event: reading')
let responses: IncomingMessage[] = []
let received = 0

/** A marker that is cut by the end of a chunk is not counted, since chunks are long. */
function countIn(chunk: Buffer): void {
  for (let at = chunk.indexOf(marker); at !== -1; at = chunk.indexOf(marker, at + marker.length)) received++
}

async function connectTo(port: number, path: string): Promise<IncomingMessage> {
  const request = get({ host: '127.0.0.1', port, path, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`${path} returned ${response.statusCode}`)
  response.on('data', countIn)
  response.on('error', () => undefined)
  return response
}

async function obey(order: EventOrder | 'stop'): Promise<void> {
  if (order === 'stop') {
    for (const response of responses) response.destroy()
    process.send?.(received)
    responses = []
    received = 0
    return
  }
  responses = await Promise.all(order.paths.map(path => connectTo(order.port, path)))
  process.send?.('connected')
}

// The parent may be killed.
process.once('disconnect', () => process.exit())
process.on('message', (order: EventOrder | 'stop') => {
  obey(order).catch((error: Error) => {
    process.stderr.write(`${error.stack}\n`)
    process.exit(1)
  })
})
