/**
 * Where notifications may go. An address of the web is checked when it is set, and again at each connection: its name is resolved
 * here, every address that it has is checked, and the connection is made to one of these and to no other.
 */

import { lookup, Resolver } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'

/** The addresses of a name. An empty answer is an error of the connection. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

export interface TargetCheckOptions {
  /** ALERT_TARGETS_ALLOWED: origins (`http://127.0.0.1:9093`) and networks (`10.0.0.0/8`). */
  allowed: readonly string[]
  /** The addresses of this machine. */
  ownAddresses: () => readonly string[]
  /** Uses DNS alone. Names of allowed origins are resolved by the system, which reads the hosts file, too. */
  resolve?: Resolve
}

export interface TargetCheck {
  /** Reason why the URL is refused, as far as it is known without its addresses. Undefined for an accepted one. */
  faultOf(url: string): string | undefined
  /** Connects to checked addresses only, until the signal aborts. The URL has no fault. */
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
const privateFault = 'its address is not public, and not in ALERT_TARGETS_ALLOWED'
const plainHttp = 'must be https; http is allowed for addresses in ALERT_TARGETS_ALLOWED'

export function createTargetCheck({ allowed, ownAddresses, resolve = resolveByDns }: TargetCheckOptions): TargetCheck {
  const origins = new Set(allowed.filter(isOrigin))
  const networks = networksOf(allowed.filter(entry => !isOrigin(entry)))
  const hasNetworks = networks.rules.length > 0

  function addressFault(url: URL, address: string): string | undefined {
    if (origins.has(url.origin) || isInNetworks(networks, address)) return undefined
    if (url.protocol === 'http:') return plainHttp
    const isOther = isPublicAddress(address) && !isInNetworks(networksOf(ownAddresses()), address)
    return isOther ? undefined : privateFault
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
          // This also catches an error that `net` throws in the callback, which would end the process.
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

/** Addresses that are not global unicast, by the registry of special-purpose addresses (RFC 6890, IANA). */
const ipv4NotPublic = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/**
 * These ranges lie within global unicast: protocols (Teredo among them), documentation, and 6to4, which has an address
 * of IPv4 in it.
 */
const ipv6NotPublic = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

/** All other addresses of IPv6 are reserved, local, or groups. */
const ipv6GlobalUnicast = '2000::/3'

/** Where IPv6 holds an address of IPv4 that counts: IPv4-mapped (RFC 4291), and NAT64 (RFC 6052). */
const ipv4Within = ['::ffff:', '64:ff9b::']
const ipv4WithinBits = 96

const notPublic = networksOf([...ipv4NotPublic, ...ipv6NotPublic])
const globalUnicast = networksOf([ipv6GlobalUnicast])
const carriesIpv4 = new BlockList()
for (const prefix of ipv4Within) carriesIpv4.addSubnet(`${prefix}0.0.0.0`, ipv4WithinBits, 'ipv6')

/** False for a text that is not an address. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !notPublic.check(address, 'ipv4')
  // One with a zone is local to a link.
  if (version === 0 || address.includes('%')) return false
  const isKnown = globalUnicast.check(address, 'ipv6') || carriesIpv4.check(address, 'ipv6')
  return isKnown && !notPublic.check(address, 'ipv6')
}

/** Accepts networks (`10.0.0.0/8`, `fd00::/8`) and addresses. IPv4 also matches within IPv6. */
export function networksOf(texts: readonly string[]): BlockList {
  const networks = new BlockList()
  for (const text of texts) {
    const [address = '', given] = text.split('/')
    const isIpv4 = isIP(address) === 4
    const bits = given === undefined ? (isIpv4 ? 32 : 128) : Number(given)
    networks.addSubnet(address, bits, isIpv4 ? 'ipv4' : 'ipv6')
    if (!isIpv4) continue
    for (const prefix of ipv4Within) networks.addSubnet(`${prefix}${address}`, ipv4WithinBits + bits, 'ipv6')
  }
  return networks
}

export function isInNetworks(networks: BlockList, address: string): boolean {
  const version = isIP(address)
  return version !== 0 && !address.includes('%') && networks.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

const resolverOptions = { timeout: 3000, tries: 2 }

/**
 * Rejects with the error of IPv4 where both queries fail. The list is empty for a CNAME without an address. The resolver of the
 * system would occupy one of the few threads for files and passwords while a name server is silent.
 */
async function resolveByDns(hostname: string, signal: AbortSignal): Promise<string[]> {
  const resolver = new Resolver(resolverOptions)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = [ipv4, ipv6].flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
    return addresses
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
