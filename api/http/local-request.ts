/** Whether a request is of this machine itself, and not one that a proxy on this machine hands on for somebody else. */

import type { IncomingMessage } from 'node:http'
import { isIPv4 } from 'node:net'

/**
 * From the machine's own address, to a name of it, with nothing in it that a proxy adds. HTTP/1.0 is what many proxies
 * speak to what is behind them, and no scraper does. An address in TRUST_PROXY is that of a proxy.
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

/** As in a Host header: with a port or without one. */
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
