/**
 * The addresses of a name by DNS, with a time limit and off the thread pool: the resolver of the system takes one of the few
 * threads that files and passwords need as well, for as long as a name server keeps silent.
 */

import { Resolver } from 'node:dns/promises'

const options = { timeout: 3000, tries: 2 }

/** Rejects with the error of IPv4 where both queries fail. The list is empty for a CNAME without an address. */
export async function resolveByDns(hostname: string, signal: AbortSignal): Promise<string[]> {
  const resolver = new Resolver(options)
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
