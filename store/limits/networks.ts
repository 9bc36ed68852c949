/** Client addresses and the networks that contain them. */

import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** The predicate matches addresses in one of the networks, given as `10.0.0.0/8` or as single addresses. */
export function createNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return address => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

/** Names a sender without a valid credential in rejections. */
export function unknownSender(address: string): { name: string; isKnown: false } {
  const network = networkOf(address)
  return { name: `address ${network === address ? address : `${network}::/64`}`, isKnown: false }
}

/** True for a name of `unknownSender`; names of credentials begin otherwise. */
export function isUnknownSender(name: string): boolean {
  return name.startsWith('address ')
}

/** Limits count this as one client: an IPv4 address, or a whole IPv6 /64, since a household gets one. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address
  const [head = '', tail = ''] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const missing = address.includes('::') ? 8 - left.length - right.length : 0
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  return groups.slice(0, 4).join(':')
}
