/** A client of `/api/events` as a browser's EventSource is one: it keeps the last id over its connections. */

import type { Service } from './service.ts'

interface ReceivedEvent {
  event: string
  data: { device: string; ts: number; values: Record<string, number>; state: string }
}

export function createEventSource(query = '') {
  const received: ReceivedEvent[] = []
  let lastId: string | undefined
  let connection = new AbortController()

  /** A block that is cut off counts for nothing. */
  function take(block: string): void {
    const fields = block.split('\n').map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
    const { id, event, data } = Object.fromEntries(fields)
    lastId = id ?? lastId
    if (event !== undefined) received.push({ event, data: JSON.parse(data ?? '{}') })
  }

  async function read(body: ReadableStream<Uint8Array>, { signal }: AbortController): Promise<void> {
    const decoder = new TextDecoder()
    let text = ''
    for await (const bytes of body) {
      if (signal.aborted) return
      const blocks = (text + decoder.decode(bytes, { stream: true })).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) take(block)
    }
  }

  return {
    received,
    /** Ends the connection that there is, and makes one to this node. Resolves when it is answered. */
    async connect({ url }: Pick<Service, 'url'>): Promise<void> {
      connection.abort()
      const own = new AbortController()
      connection = own
      const headers: Record<string, string> = lastId === undefined ? {} : { 'last-event-id': lastId }
      const { body, status } = await fetch(`${url}/api/events${query}`, { headers, signal: own.signal })
      if (status !== 200 || body === null) throw new Error(`events are answered with ${status}`)
      void read(body, own).catch(() => undefined)
    },
    close: () => connection.abort(),
  }
}
