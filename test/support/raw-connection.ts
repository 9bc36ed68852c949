/** A connection on which a test sends any bytes, like a faulty client. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { TestHooks } from './databases.ts'

export interface RawConnection {
  socket: Socket
  /** Everything that has come back so far. */
  received(): string
  /** Counts the answers that have begun. */
  answers(): number
  fault(): NodeJS.ErrnoException | undefined
  /** Resolves with everything that came back, once the connection is closed. */
  closed: Promise<string>
}

/** `localAddress` is where it comes from, such as 127.0.0.2. */
export async function openRaw(t: TestHooks, url: string, localAddress?: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({
    host: hostname,
    port: Number(port),
    ...(localAddress === undefined ? {} : { localAddress }),
  })
  t.teardown(() => socket.destroy())
  let received = ''
  let fault: NodeJS.ErrnoException | undefined
  socket.on('error', (error: NodeJS.ErrnoException) => {
    fault ??= error
  })
  socket.on('data', piece => {
    received += piece.toString('latin1')
  })
  const closed = once(socket, 'close').then(() => received)
  await Promise.race([once(socket, 'connect'), closed])
  return {
    socket,
    received: () => received,
    answers: () => received.split('HTTP/1.1 ').length - 1,
    fault: () => fault,
    closed,
  }
}

/** Sends the bytes, closes the sending side, and resolves with everything that comes back. */
export async function exchangeRaw(t: TestHooks, url: string, bytes: string | Buffer): Promise<string> {
  const { socket, closed } = await openRaw(t, url)
  socket.end(bytes, 'latin1' as BufferEncoding)
  return await closed
}
