/** Sees to it that the connections of clients do not hold up a stop. */

import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const idleSweepMs = 100
/** What a request may still take when the stop begins; the databases need a part of the five seconds too. */
const finishMsMax = 2000

/**
 * A connection that was busy when the stop began turns idle afterwards and would wait out its keep-alive time: more than
 * a minute. So idle ones are swept until all are gone. What is left in the end is cut: a client that sends nothing, or
 * half a request, or does not read its answer; Node itself looks at no time limit any more once it closes.
 */
export function boundConnections(app: FastifyInstance): void {
  const sockets = new Set<Socket>()
  // With TLS these are the sockets below it, so one that never shakes hands is among them too.
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.addHook('preClose', done => {
    const sweep = setInterval(() => app.server.closeIdleConnections(), idleSweepMs)
    const cut = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, finishMsMax)
    app.server.once('close', () => {
      clearInterval(sweep)
      clearTimeout(cut)
    })
    done()
  })
}
