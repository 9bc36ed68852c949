/** Finds a free port on the loopback and reserves it against other processes of this project. */

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

// The ports are below the kernel's range for outgoing connections. These cannot take a port between our check and the
// server's bind, nor while a server restarts.
const portMin = 20_000
const portsEnd = 32_000
const attemptsMax = 100

/**
 * The reservation lasts as long as this process: a server binds its port seconds later, and again at each restart. Until then a
 * check of the port shows nothing to other callers, here or in another process.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = randomInt(portMin, portsEnd)
    // An abstract socket: exclusive in the port's network namespace, and released with the process.
    const reservation = await listening({ path: `\0barograph-port-${port}` })
    if (reservation === undefined) continue
    if (await isPortFree(port)) return port
    reservation.close()
  }
  throw new Error(`no free port on 127.0.0.1 among ${attemptsMax} between ${portMin} and ${portsEnd}`)
}

/** True when a server could listen on it now. */
export async function isPortFree(port: number): Promise<boolean> {
  const probe = await listening({ host: '127.0.0.1', port })
  if (probe === undefined) return false
  probe.close()
  await once(probe, 'close')
  return true
}

/** Undefined when the address is taken. The server does not keep the process alive. */
async function listening(address: { path: string } | { host: string; port: number }): Promise<Server | undefined> {
  const server = createServer(socket => socket.destroy()).unref()
  try {
    server.listen(address)
    await once(server, 'listening')
    // A connection that cannot be accepted for lack of descriptors does not concern this server.
    return server.on('error', () => undefined)
  } catch {
    server.close()
    return undefined
  }
}
