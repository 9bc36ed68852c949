/** A proxy between clients and a broker that holds requests and drops responses at the test's command. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestHooks } from './databases.ts'

export interface KafkaProxy {
  port: number
  /** The address that it connects to. */
  targetPort: number
  /** While true, the broker's bytes are not passed on. */
  swallowsAnswers: boolean
  /** Bytes that were swallowed. */
  swallowed: number
  hold(): HeldRequests
}

interface HeldRequests {
  /** The number of kept bytes. */
  bytes(): number
  /** New requests are passed on again. The kept ones are not, and survive the end of their clients. */
  pass(): void
  /** Sends the kept ones to the broker. */
  deliver(): void
  /** True if the broker has answered each of the kept connections. */
  areAnswered(): boolean
}

interface Hold {
  isOn: boolean
  kept: { target: Socket; pieces: Buffer[]; answered: number }[]
}

export async function startKafkaProxy(t: TestHooks): Promise<KafkaProxy> {
  const sockets = new Set<Socket>()
  let hold: Hold | undefined

  const server = createServer(client => {
    const target = connect({ host: '127.0.0.1', port: proxy.targetPort })
    let kept: Hold['kept'][number] | undefined
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('data', piece => {
      if (kept === undefined && hold?.isOn) {
        kept = { target, pieces: [], answered: 0 }
        hold.kept.push(kept)
      }
      if (kept === undefined) target.write(piece)
      else kept.pieces.push(piece)
    })
    target.on('data', piece => {
      if (kept !== undefined) kept.answered += piece.length
      if (proxy.swallowsAnswers) proxy.swallowed += piece.length
      else client.write(piece)
    })
    client.on('close', () => {
      if (kept === undefined) target.destroy()
    })
    target.on('close', () => client.destroy())
  })

  const proxy: KafkaProxy = {
    port: 0,
    targetPort: 0,
    swallowsAnswers: false,
    swallowed: 0,
    hold() {
      const current: Hold = { isOn: true, kept: [] }
      hold = current
      return {
        bytes: () => current.kept.flatMap(({ pieces }) => pieces).reduce((sum, { length }) => sum + length, 0),
        pass() {
          current.isOn = false
        },
        deliver() {
          for (const { target, pieces } of current.kept) target.write(Buffer.concat(pieces))
        },
        areAnswered: () => current.kept.every(({ answered }) => answered > 0),
      }
    },
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy.port = (server.address() as AddressInfo).port
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return proxy
}
