/** Addresses of clients and the networks that they belong to. */

import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Whether an address is in one of the networks, given as `10.0.0.0/8` or as single addresses. */
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

/** Whoever sends without a good credential, as rejections name it. */
export function unknownSender(address: string): { name: string; isKnown: false } {
  const network = networkOf(address)
  return { name: `address ${network === address ? address : `${network}::/64`}`, isKnown: false }
}

/** What limits count as one client: an address, of IPv6 a whole /64, as a household gets it. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address
  const [head = '', tail = ''] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const missing = address.includes('::') ? 8 - left.length - right.length : 0
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  return groups.slice(0, 4).join(':')
}
