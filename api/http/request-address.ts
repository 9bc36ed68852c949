/** Recognizes requests of this machine itself, and finds the address under which a client reaches the service. */

import type { IncomingMessage } from 'node:http'
import { isIPv4 } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * The request comes from and goes to the machine's own address, without headers of a proxy. Proxies often use HTTP/1.0,
 * which scrapers do not. An address in TRUST_PROXY belongs to a proxy.
 */
export function isLocalRequest(request: IncomingMessage, isTrusted: (address: string) => boolean): boolean {
  const { socket, headers, rawHeaders, httpVersionMinor } = request
  const address = socket.remoteAddress ?? ''
  if (!isLoopback(address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address)) return false
  if (isTrusted(address) || httpVersionMinor === 0 || !isOurName(headers.host ?? '')) return false
  return !rawHeaders.some((name, at) => at % 2 === 0 && isOfProxy(name.toLowerCase()))
}

function isLoopback(address: string): boolean {
  return address === '::1' || (address.startsWith('127.') && isIPv4(address))
}

/** Takes a Host header, with or without a port. */
function isOurName(host: string): boolean {
  const name = host.replace(/:\d{1,5}$/, '').toLowerCase()
  return name === 'localhost' || name === '[::1]' || isLoopback(name)
}

const names = new Set(['forwarded', 'via', 'x-real-ip', 'client-ip'])
const beginnings = ['x-forwarded', 'x-original-', 'x-envoy-', 'x-remote-', 'x-proxy']
const endings = ['-client-ip', '-connecting-ip']

function isOfProxy(name: string): boolean {
  if (names.has(name) || beginnings.some(beginning => name.startsWith(beginning))) return true
  return endings.some(ending => name.endsWith(ending))
}

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

/** A request without a host, such as one of HTTP/1.0, has this one. */
function hostOf({ localAddress = 'localhost', localPort }: FastifyRequest['socket']): string {
  const name = localAddress.includes(':') ? `[${localAddress}]` : localAddress
  return localPort === undefined ? name : `${name}:${localPort}`
}
