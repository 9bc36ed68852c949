/** Ensures that the stations are there, and that they belong to the account of the demo. */

import { StationDetails } from '../../../auth/stations/station-details.ts'
import { type AdminClient, refusal } from '../../admin-client.ts'
import type { DemoState } from '../state.ts'
import { type DemoAccount, ensureAccount } from './account.ts'
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
