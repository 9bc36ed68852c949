/** One connection to an HTTP server that asks for one resource after the other, with little work of its own. */

import { connect } from 'node:net'

export interface HttpConnection {
  /** Resolves with the body. Rejects unless the status is 200. */
  get(path: string): Promise<Buffer>
  close(): void
}

const headerEnd = Buffer.from('\r\n\r\n')

/** Supports responses with a Content-Length only. */
export function openHttpConnection(port: number, authorization: string): HttpConnection {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  let waiting: { resolve(body: Buffer): void; reject(error: Error): void } | undefined
  let chunks: Buffer[] = []
  socket.on('data', chunk => {
    chunks.push(chunk)
    const bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    chunks = [bytes]
    const start = bytes.indexOf(headerEnd) + headerEnd.length
    if (start < headerEnd.length) return
    const head = bytes.toString('latin1', 0, start)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
    if (bytes.length < start + length) return
    chunks = []
    const body = bytes.subarray(start)
    if (head.startsWith('HTTP/1.1 200 ')) waiting?.resolve(body)
    else waiting?.reject(new Error(`${head}${body}`))
  })
  socket.on('error', error => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('the connection was closed')))

  return {
    get: path =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n\r\n`)
      }),
    close: () => void socket.destroy(),
  }
}
