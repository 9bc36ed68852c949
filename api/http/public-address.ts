/** Finds the address under which the client reaches the service: the configured one, or the request's own. */

import type { FastifyRequest } from 'fastify'

/** A name or an address, with or without a port. Other Host headers are ignored. */
const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

/** Scheme, host and port, and the path of a configured address, without a final slash. */
export function createPublicAddress(publicUrl: string | undefined): (request: FastifyRequest) => string {
  if (publicUrl !== undefined) {
    const { origin, pathname } = new URL(publicUrl)
    const configured = withoutSlashes(`${origin}${pathname}`)
    return () => configured
  }
  // Both read X-Forwarded-* of trusted proxies only.
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

/** For requests without a host, such as HTTP/1.0. */
function hostOf({ localAddress = 'localhost', localPort }: FastifyRequest['socket']): string {
  const name = localAddress.includes(':') ? `[${localAddress}]` : localAddress
  return localPort === undefined ? name : `${name}:${localPort}`
}
