/** Under which address the client reaches the service: the configured one, or what the request says of itself. */

import type { FastifyRequest } from 'fastify'

/** A name or an address, with a port or without one; anything else in a Host header is nobody's. */
const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

/** Scheme, host and port, and the path of a configured address; nothing of it ends in a slash. */
export function createPublicAddress(publicUrl: string | undefined): (request: FastifyRequest) => string {
  if (publicUrl !== undefined) {
    const { origin, pathname } = new URL(publicUrl)
    const configured = withoutSlashes(`${origin}${pathname}`)
    return () => configured
  }
  // Both look at X-Forwarded-* for a trusted proxy only.
  return ({ protocol, host, socket }) => {
    const scheme = protocol === 'https' ? 'https' : 'http'
    return `${scheme}://${hostPattern.test(host) ? host : hostOf(socket)}`
  }
}

function withoutSlashes(address: string): string {
  let end = address.length
  while (address[end - 1] === '/') end--
  return address.slice(0, end)
}

/** For those who name no host: HTTP/1.0 and the careless. */
function hostOf({ localAddress = 'localhost', localPort }: FastifyRequest['socket']): string {
  const name = localAddress.includes(':') ? `[${localAddress}]` : localAddress
  return localPort === undefined ? name : `${name}:${localPort}`
}
