/** Ensures that the stations are there, and that they belong to the account of the demo. */

import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { StationDetails } from '../../../auth/stations/station.ts'
import { type AdminClient, refusal } from '../../admin-client.ts'
import type { DemoState } from '../state.ts'
import { type AirStation, airStations } from './stations.ts'

/** Returns how many stations were added; `state` gets the account. */
export async function addAirStations(client: AdminClient, state: DemoState): Promise<number> {
  const account = await ensureAccount(client, state.account)
  const isNew = account.key !== state.account?.key
  state.account = account
  let added = 0
  for (const station of airStations) {
    const found = await client.send('GET', `/stations/${station.sn}`)
    await found.body?.cancel()
    if (!found.ok && found.status !== 404) throw await refusal(found)
    if (found.ok && isNew) await handOver(client, station, account)
    if (!found.ok) {
      const { utcOffsetMinutes: _, emissions: __, ...fields } = station
      await client.json(StationDetails, 'POST', '/stations', { ...fields, owner: account.email })
      // One that was removed meanwhile starts without points.
      delete state.pointsUntil[station.sn]
      added++
    }
  }
  return added
}

async function handOver(client: AdminClient, { sn }: AirStation, { email }: DemoAccount): Promise<void> {
  await client.json(StationDetails, 'PATCH', `/stations/${sn}`, { owner: email })
}

/** The account that the stations belong to, and its API key: made as a person in a browser makes one. */
type DemoAccount = NonNullable<DemoState['account']>

const emailUsual = 'demo@example.com'

/** The one of the last run, if its key is still good; else a new one. */
async function ensureAccount(client: AdminClient, known: DemoAccount | undefined): Promise<DemoAccount> {
  if (known !== undefined && (await isGood(client.url(), known.key))) return known
  const password = randomBytes(15).toString('base64url')
  const email = await addAccount(client, password)
  return { email, password, key: await makeKey(client.url(), email, password) }
}

async function isGood(url: string, key: string): Promise<boolean> {
  const headers = { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }
  const response = await fetch(`${url}/api/v1.0/auth/`, { headers })
  await response.body?.cancel()
  return response.ok
}

/** Returns its e-mail address. */
async function addAccount(client: AdminClient, password: string): Promise<string> {
  // The usual account may exist with an unknown password.
  for (const email of [emailUsual, `demo-${randomBytes(4).toString('hex')}@example.com`]) {
    // The pages of administration are worth a look, too.
    const account = { email, password, name: 'Demo', role: 'administrator', email_verified: true }
    const body = JSON.stringify(account)
    const response = await client.send('POST', '/accounts', { body, headers: { 'content-type': 'application/json' } })
    if (response.status !== 409 && !response.ok) throw await refusal(response)
    await response.body?.cancel()
    if (response.ok) return email
  }
  throw new Error('The account of the demo could not be made.')
}

const Csrf = z.object({ csrfToken: z.string() })
const NewKey = z.object({ key: z.string() })

/** Keys require a browser's session. */
async function makeKey(url: string, email: string, password: string): Promise<string> {
  const csrf = await fetch(`${url}/auth/csrf`)
  const { csrfToken } = Csrf.parse(await csrf.json())
  const signedIn = await fetch(`${url}/auth/callback/credentials`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: cookiesOf(csrf) },
    body: new URLSearchParams({ csrfToken, email, password }),
  })
  await signedIn.body?.cancel()
  const made = await fetch(`${url}/v1/auth/api-keys`, {
    method: 'POST',
    headers: { cookie: cookiesOf(signedIn), 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'demo', scopes: ['read', 'ingest', 'stations'] }),
  })
  if (!made.ok) throw new Error(`The demo got no API key: ${made.status} ${await made.text()}`)
  return NewKey.parse(await made.json()).key
}

function cookiesOf({ headers }: Response): string {
  return headers
    .getSetCookie()
    .map(cookie => cookie.split(';')[0])
    .join('; ')
}
