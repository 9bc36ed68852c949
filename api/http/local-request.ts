/** Recognizes requests of this machine itself, without those that a local proxy forwards. */

import type { IncomingMessage } from 'node:http'
import { isIPv4 } from 'node:net'

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
