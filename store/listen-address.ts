/** Checks before the start that the service can listen on its address. A failure is one sentence with a remedy. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import { StartError } from './start-error.ts'

interface Address {
  readonly HOST: string
  readonly PORT: number
}

type PortSetting = 'PORT' | 'MQTT_PORT'

/** Remedies by the operating system's error code. */
const remedies: Record<string, (address: Address, setting: PortSetting) => string> = {
  EADDRINUSE: ({ HOST, PORT }, setting) =>
    `Port ${PORT} on ${HOST} is in use by another program: stop it, or set ${setting} to a free port.`,
  EADDRNOTAVAIL: ({ HOST }) =>
    `HOST ${HOST} is not an address of this machine: set it to one of its addresses, or to 0.0.0.0 for all.`,
  ENOTFOUND: ({ HOST }) => `HOST ${HOST} cannot be resolved: set it to an address of this machine.`,
  EACCES: ({ PORT }, setting) =>
    `Port ${PORT} requires privileges that this user lacks: set ${setting} to 1024 or more.`,
}

/** Throws a `StartError` when the address is not available. Another process may still take it before the service listens. */
export async function checkListenAddress(address: Address, setting: PortSetting = 'PORT'): Promise<void> {
  const server = createServer(socket => socket.destroy())
  try {
    await once(server.listen({ host: address.HOST, port: address.PORT }), 'listening')
  } catch (error) {
    throw listenError(address, error, setting)
  } finally {
    server.close()
  }
}

/** Converts a failure to listen into a sentence. Other errors are returned unchanged. */
export function listenError(address: Address, error: unknown, setting: PortSetting = 'PORT'): unknown {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  const remedy = syscall === undefined ? undefined : remedies[code]
  return remedy === undefined ? error : new StartError(remedy(address, setting))
}
