/** Finds a port on the loopback that nobody listens on. */

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the range that the kernel deals out to outgoing connections, so none of those can take a port between our
// look and the moment when the server binds it, nor while a server that died is started again.
const portMin = 20_000
const portsEnd = 32_000
const attemptsMax = 100

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = randomInt(portMin, portsEnd)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port on 127.0.0.1 among ${attemptsMax} between ${portMin} and ${portsEnd}`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
