/** A credential of each security scheme of the contract, as the headers that a client sends. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeKey, makePerson } from '../support/people.ts'
import { basic, type Service } from '../support/service.ts'

/** By the name of the scheme, or of the one operation that has a credential of its own. */
export type Credentials = Record<string, Record<string, string>>

/** All of an administrator; the names are those of the contract. `device` is made. */
export async function makeCredentials(service: Service, device: string): Promise<Credentials> {
  const { url, dataDirectory } = service
  const person = await makePerson(service, { role: 'administrator' })
  const leaving = await makePerson(service)
  const scopes = ['read', 'ingest', 'stations', 'alerts', 'admin']
  const key = await makeKey(url, person.cookie, scopes, { create_devices: true })
  const password = await service.addDevice(device)
  const secret = (name: string) => readFileSync(join(dataDirectory, 'secrets', name), 'utf8').trim()
  return {
    session: { cookie: person.cookie, origin: url },
    // It removes the account.
    delete_me_v1_auth_me_delete: { cookie: leaving.cookie, origin: url },
    bearer: { Authorization: `Bearer ${await person.bearer()}` },
    apiKey: { 'X-API-Key': key },
    bearerKey: { Authorization: `Bearer ${key}` },
    basicKey: { Authorization: basic(key, '') },
    influxToken: { Authorization: `Token ${key}` },
    device: { Authorization: basic(device, password) },
    serviceSecret: { 'X-Service-Secret': secret('service-secret') },
    adminToken: { Authorization: `Bearer ${secret('admin-token')}` },
  }
}
