/** One address for several processes: each connection goes to the next one that takes it. Stands in for a load balancer. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface Balancer {
  close(): void
}

export interface BalancerOptions {
  host: string
  port: number
  /** Ports of the processes on this machine. */
  ports: readonly number[]
  /** True if a process is to get requests. */
  isReady: (port: number) => boolean
}

export async function startBalancer({ host, port, ports, isReady }: BalancerOptions): Promise<Balancer> {
  const sockets = new Set<Socket>()
  let next = 0

  function keep(socket: Socket, other: Socket): void {
    sockets.add(socket)
    socket.on('error', () => other.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      other.destroy()
    })
  }

  function join(client: Socket): void {
    const ready = ports.filter(isReady)
    const target = ready[next++ % ready.length]
    if (target === undefined) {
      client.destroy()
      return
    }
    const upstream = connect({ host: '127.0.0.1', port: target, noDelay: true })
    keep(client, upstream)
    keep(upstream, client)
    client.pipe(upstream).pipe(client)
  }

  const server = createServer({ noDelay: true }, join)
  server.listen(port, host)
  await once(server, 'listening')
  return {
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
