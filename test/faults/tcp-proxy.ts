/** A proxy that simulates network faults between two processes. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestHooks } from '../support/databases.ts'
import type { Random } from './seeded-random.ts'

export interface Trouble {
  refuses: boolean
  /** Connections are accepted but never answered. */
  silent: boolean
  /** Delay of every piece in each direction. With `latencyChance` it applies to some connections. */
  latencyMs: number
  latencyChance: number
  /** Upstream bytes a second. Undefined means unlimited. */
  bytesPerSecond: number | undefined
  /** Probability that a connection is reset in the middle of a request. */
  resetChance: number
  /** Maximal size of forwarded pieces. Undefined forwards them unchanged. */
  pieceBytes: number | undefined
}

/** A port of the loopback, or the path of a socket. */
export type Target = number | string

export interface TcpProxy {
  port: number
  trouble: Trouble
  bytesUp: number
  /** The target of new connections. */
  target: Target
  /** Ends all connections, so that new ones get the current trouble. */
  cut(): void
  calm(): void
}

const noTrouble: Trouble = {
  refuses: false,
  silent: false,
  latencyMs: 0,
  latencyChance: 1,
  bytesPerSecond: undefined,
  resetChance: 0,
  pieceBytes: undefined,
}

export async function startTcpProxy(t: TestHooks, target: Target, random: Random): Promise<TcpProxy> {
  const pairs = new Set<Socket>()
  const server = createServer(client => {
    const { trouble } = proxy
    if (trouble.refuses) {
      client.destroy()
      return
    }
    const target = openTarget(proxy.target)
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const) {
      pairs.add(one)
      one.setNoDelay(true)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        pairs.delete(one)
        other.destroy()
      })
    }
    void pump(client, target, proxy, random, true)
    void pump(target, client, proxy, random, false)
  })
  const proxy: TcpProxy = {
    port: 0,
    bytesUp: 0,
    target,
    trouble: { ...noTrouble },
    cut() {
      for (const socket of pairs) socket.destroy()
    },
    calm() {
      proxy.trouble = { ...noTrouble }
      proxy.cut()
    },
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy.port = (server.address() as AddressInfo).port
  t.teardown(() => {
    proxy.cut()
    server.close()
  })
  return proxy
}

function openTarget(target: Target): Socket {
  return typeof target === 'string' ? connect(target) : connect({ host: '127.0.0.1', port: target, noDelay: true })
}

/** Copies bytes from one socket to the other, with backpressure by waiting. */
async function pump(from: Socket, to: Socket, proxy: TcpProxy, random: Random, upstream: boolean): Promise<void> {
  // A connection keeps the trouble of its beginning.
  const { trouble } = proxy
  const isLate = trouble.latencyMs > 0 && random.chance(trouble.latencyChance)
  try {
    for await (const chunk of from) {
      const bytes = chunk as Buffer
      if (upstream) proxy.bytesUp += bytes.length
      if (trouble.silent && !upstream) continue
      if (isLate) await pause(trouble.latencyMs)
      if (upstream && random.chance(trouble.resetChance)) {
        to.write(bytes.subarray(0, random.below(bytes.length)))
        from.resetAndDestroy()
        return
      }
      await forward(to, bytes, trouble, upstream)
    }
    to.end()
  } catch {
    to.destroy()
  }
}

async function forward(to: Socket, bytes: Buffer, { bytesPerSecond, pieceBytes }: Trouble, upstream: boolean) {
  const size = pieceBytes ?? (upstream && bytesPerSecond !== undefined ? 16 * 1024 : bytes.length)
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size)
    if (!to.write(piece)) await once(to, 'drain')
    if (upstream && bytesPerSecond !== undefined) await pause((piece.length * 1000) / bytesPerSecond)
    else if (pieceBytes !== undefined) await new Promise(resolve => setImmediate(resolve))
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
