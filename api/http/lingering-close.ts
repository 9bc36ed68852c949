/**
 * Closes a connection behind its last answer as RFC 9112, 9.6 has it: our side first, then what the client still sends
 * is read and discarded for a while. A plain close would make the kernel answer those bytes with a reset, which may take
 * the answer with it.
 */

import type { Socket } from 'node:net'
import { createDeadlines } from './deadlines.ts'

const lingerMsMax = 5000
const discardedBytesMax = 256 * 1024 * 1024

export interface LingeringClose {
  /** From now on the connection is closed in this way, whenever Node or we close it behind an answer. */
  apply(socket: Socket): void
  close(): void
}

export function createLingeringClose(): LingeringClose {
  const deadlines = createDeadlines<Socket>(lingerMsMax, socket => socket.destroy())

  function linger(socket: Socket): void {
    if (socket.destroyed) return
    socket.end()
    let left = discardedBytesMax
    // Without this listener of Node's, and with one of ours, nothing reaches its parser any more.
    socket.removeAllListeners('data').on('data', piece => {
      left -= piece.length
      if (left < 0) socket.destroy()
    })
    socket.resume()
    deadlines.add(socket)
    socket.once('close', () => deadlines.delete(socket))
  }

  return {
    apply(socket) {
      socket.destroySoon = () => linger(socket)
    },
    close: () => deadlines.close(),
  }
}
