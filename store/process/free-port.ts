/** Finds a port on the loopback that nobody listens on, and keeps it from other processes of this project. */

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

// Below the range that the kernel deals out to outgoing connections, so none of those can take a port between our
// look and the moment when the server binds it, nor while a server that died is started again.
const portMin = 20_000
const portsEnd = 32_000
const attemptsMax = 100

/**
 * Reserved as long as this process runs: a server binds its port seconds later, and again whenever it is restarted, and
 * until then a look at the port shows nothing to the next who asks, here or in another process.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = randomInt(portMin, portsEnd)
    // An abstract socket: exclusive in the same network namespace as the port, and gone with the process.
    const reservation = await listening({ path: `\0barograph-port-${port}` })
    if (reservation === undefined) continue
    if (await isPortFree(port)) return port
    reservation.close()
  }
  throw new Error(`no free port on 127.0.0.1 among ${attemptsMax} between ${portMin} and ${portsEnd}`)
}

/** Whether a server could listen on it at this moment. */
export async function isPortFree(port: number): Promise<boolean> {
  const probe = await listening({ host: '127.0.0.1', port })
  if (probe === undefined) return false
  probe.close()
  await once(probe, 'close')
  return true
}

/** Does not keep the process from ending; undefined when it is taken. */
async function listening(address: { path: string } | { host: string; port: number }): Promise<Server | undefined> {
  const server = createServer(socket => socket.destroy()).unref()
  try {
    server.listen(address)
    await once(server, 'listening')
    // A connection that cannot be accepted, for want of descriptors, is none of ours.
    return server.on('error', () => undefined)
  } catch {
    server.close()
    return undefined
  }
}
