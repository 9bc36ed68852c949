/** Stations of a service that runs, and an API key of an administrator for them, all by HTTP. */

import { randomUUID } from 'node:crypto'
import type { Parameter } from '../../auth/stations/station.ts'
import { password, signIn } from './people.ts'

type Send = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: unknown }>

/** May read, send points, and add stations. `admin` asks the admin API. */
export async function makeStationKey(url: string, admin: Send): Promise<string> {
  return await makeKey(url, await signInSomebody(url, admin, 'administrator'), ['read', 'ingest', 'stations'])
}

/** The cookies of a person who was made for it. */
async function signInSomebody(url: string, admin: Send, role: string): Promise<string> {
  const email = `${randomUUID()}@example.com`
  await expectStatus(201, admin('POST', '/accounts', { email, password, role, email_verified: true }))
  return await signIn(url, email)
}

export async function makeKey(url: string, cookie: string, scopes: readonly string[], more = {}): Promise<string> {
  const response = await fetch(`${url}/v1/auth/api-keys`, {
    method: 'POST',
    headers: { origin: url, cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'points', scopes, ...more }),
  })
  const made = { status: response.status, body: await response.json() }
  const { key } = await expectStatus(201, Promise.resolve(made))
  return String(key)
}

export async function addStations(admin: Send, sns: readonly string[]): Promise<void> {
  for (const sn of sns) await expectStatus(201, admin('POST', '/stations', { sn, model: 'M1' }))
}

async function expectStatus(expected: number, sent: ReturnType<Send>): Promise<Record<string, unknown>> {
  const { status, body } = await sent
  if (status !== expected) throw new Error(`answered ${status}: ${JSON.stringify(body)}`)
  return body as Record<string, unknown>
}

export interface ShownPoint {
  id: number
  sn: string
  parameter: Parameter
  unit: string
  /** UTC, without a mark. */
  timestamp: string
  value_1min: number
}

/** All points of a station, the oldest first; undefined while they cannot be read. */
export async function readShownPoints(
  url: string,
  key: string,
  sn: string,
): Promise<ShownPoint[] | 'unknown' | undefined> {
  const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`
  const response = await fetch(`${url}/api/v1.0/device/${sn}/data/?format=ndjson`, { headers: { authorization } })
  const text = await response.text()
  if (response.status !== 200) return response.status === 404 ? 'unknown' : undefined
  return text.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as ShownPoint]))
}
