/** Credentials of a service, each with what revokes it, all by HTTP. */

import type { Random } from '../faults/seeded-random.ts'
import { makePerson, type Person } from './people.ts'
import { basic, type Service } from './service.ts'

/** Something that lets in, until it is revoked. */
export interface Revocable {
  name: string
  /** The status of a request to the service at this address. */
  use(url: string): Promise<number>
  /** The status of the call that revokes it. */
  revoke(node: Service): Promise<number>
  /** Whether its revocation was answered. */
  isRevoked: boolean
}

const answerMsMax = 10_000
let count = 0

export const isLetIn = (status: number): boolean => status === 200 || status === 404

async function statusOf(url: string, init: RequestInit): Promise<number> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(answerMsMax) })
  await response.arrayBuffer()
  return response.status
}

/** A device, an API key or an account. `person`: the owner of the key. */
export function makeRevocable(node: Service, person: Person, random: Random): Promise<Revocable> {
  const make = random.pick([makeDevice, makeKey, makeAccount])
  return make(node, person, random)
}

async function makeDevice(node: Service, _person: Person, random: Random): Promise<Revocable> {
  const name = `d${count++}`
  const password = await node.addDevice(name)
  const body = JSON.stringify({ device: name, temperature: 20, humidity: 50, pressure: 1000 })
  const headers = { authorization: basic(name, password), 'content-type': 'application/json' }
  const [method, path] = random.chance(0.5)
    ? (['POST', `/devices/${name}/rotate?now=1`] as const)
    : (['DELETE', `/devices/${name}`] as const)
  return {
    name,
    isRevoked: false,
    use: url => statusOf(`${url}/api/log`, { method: 'PUT', headers, body }),
    revoke: async at => (await at.admin(method, path)).status,
  }
}

async function makeKey(node: Service, person: Person): Promise<Revocable> {
  const { body } = await node.admin('POST', '/keys', { account: person.id, name: 'k', scopes: ['read'] })
  const { id, key } = body as { id: number; key: string }
  return {
    name: `key ${id}`,
    isRevoked: false,
    // Of no device.
    use: url => statusOf(`${url}/api/device/nobody`, { headers: { 'x-api-key': key } }),
    revoke: async at => (await at.admin('DELETE', `/keys/${id}`)).status,
  }
}

async function makeAccount(node: Service): Promise<Revocable> {
  const { id, bearer } = await makePerson(node)
  const headers = { authorization: `Bearer ${await bearer()}` }
  return {
    name: `account ${id}`,
    isRevoked: false,
    use: url => statusOf(`${url}/v1/auth/me`, { headers }),
    revoke: async at => (await at.admin('PATCH', `/accounts/${id}`, { is_active: false })).status,
  }
}
