/** Which IP addresses are public: those that notifications may go to without leave of the operator. */

import { BlockList, isIP } from 'node:net'

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

/** Within global unicast: protocols (Teredo among them), documentation, and 6to4, which has an address of IPv4 in it. */
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
