/** The headers of a client for each security scheme of the contract. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeKey, makePerson } from '../support/people.ts'
import { basic, type Service } from '../support/service.ts'

/** The key is a scheme, or the id of the one operation with a separate credential. */
export type Credentials = Record<string, Record<string, string>>

/** Credentials of an administrator, by the names of the contract. Adds `device`. */
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
    // This operation removes the account.
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
