/**
 * Where notifications may go. An address of the web is checked when it is set, and again at each connection: its name is resolved
 * here, every address that it has is checked, and the connection is made to one of these and to no other.
 */

import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { isInNetworks, isPublicAddress, networksOf } from './public-addresses.ts'
import { resolveByDns } from './resolve.ts'

/** The addresses of a name. An empty answer is an error of the connection. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

export interface TargetCheckOptions {
  /** ALERT_TARGETS_ALLOWED: origins (`http://127.0.0.1:9093`) and networks (`10.0.0.0/8`). */
  allowed: readonly string[]
  /** The addresses of this machine. */
  ownAddresses: () => readonly string[]
  /** By DNS alone; of an origin that is listed, by the system (the hosts file, too). */
  resolve?: Resolve
}

export interface TargetCheck {
  /** Why nothing is sent there, as far as it is known without its addresses; undefined for one that may be used. */
  faultOf(url: string): string | undefined
  /** Connects to checked addresses alone; ends with the signal. The URL has no fault. */
  connectorTo(url: URL, signal: AbortSignal): buildConnector.connector
}

/** The text omits the resolved address, which may reveal a private network. */
class TargetRefused extends Error {
  readonly code = 'TARGET_REFUSED'

  constructor(message: string) {
    super(message)
    this.name = 'TargetRefused'
  }
}

class NoAddress extends Error {
  readonly code = 'ENODATA'
}

const urlLengthMax = 2_000
const connectMsMax = 10_000
const notPublic = 'its address is not public, and not in ALERT_TARGETS_ALLOWED'
const plainHttp = 'must be https; http is allowed for addresses in ALERT_TARGETS_ALLOWED'

export function createTargetCheck({ allowed, ownAddresses, resolve = resolveByDns }: TargetCheckOptions): TargetCheck {
  const origins = new Set(allowed.filter(isOrigin))
  const networks = networksOf(allowed.filter(entry => !isOrigin(entry)))
  const hasNetworks = networks.rules.length > 0

  function addressFault(url: URL, address: string): string | undefined {
    if (origins.has(url.origin) || isInNetworks(networks, address)) return undefined
    if (url.protocol === 'http:') return plainHttp
    const isOther = isPublicAddress(address) && !isInNetworks(networksOf(ownAddresses()), address)
    return isOther ? undefined : notPublic
  }

  function faultOf(text: string): string | undefined {
    const url = text.length > urlLengthMax ? null : URL.parse(text)
    if (url === null) return 'must be an address such as https://example.com/hook'
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
    if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password'
    if (url.protocol === 'http:' && !origins.has(url.origin) && !hasNetworks) return plainHttp
    const host = hostOf(url)
    return isIP(host) === 0 ? undefined : addressFault(url, host)
  }

  async function checkedAddresses(url: URL, hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    const addresses = await (origins.has(url.origin) ? resolveBySystem(hostname) : resolve(hostname, signal))
    // A CNAME that leads nowhere is an answer without addresses, which `net` does not expect.
    if (addresses.length === 0) throw new NoAddress()
    for (const address of addresses) {
      const fault = addressFault(url, address)
      if (fault !== undefined) throw new TargetRefused(fault)
    }
    return addresses
  }

  return {
    faultOf,
    connectorTo(url, signal) {
      const check: LookupFunction = (hostname, options, callback) => {
        checkedAddresses(url, hostname, signal)
          .then(addresses => {
            const found = addresses.map(address => ({ address, family: isIP(address) }))
            const [first] = found
            if (options.all === true) callback(null, found)
            else callback(null, first?.address ?? '', first?.family)
          })
          // Also for an error that `net` throws in the callback: without this it ends the process.
          .catch((error: NodeJS.ErrnoException) => callback(error, ''))
      }
      const connect = buildConnector({ lookup: check, timeout: connectMsMax, maxCachedSessions: 0 })
      return (options, callback) => {
        // Node looks up no address: one that the URL holds is checked here.
        const fault = isIP(hostOf(url)) === 0 ? undefined : addressFault(url, hostOf(url))
        if (fault === undefined) connect(options, callback)
        else callback(new TargetRefused(fault), null)
      }
    },
  }
}

function isOrigin(entry: string): boolean {
  return entry.includes('://')
}

/** Removes the brackets of IPv6. A URL normalizes the spelling of an address. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

async function resolveBySystem(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address)
}
