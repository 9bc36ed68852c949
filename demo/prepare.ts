/** Before the live sensors start: devices are registered, their history is imported up to now, and content files too. */

import { z } from 'zod'
import { ImportAnswer } from '../api/admin/import-answer.ts'
import { IssuedPassword } from '../auth/devices/device.ts'
import { type AdminClient, refusal } from '../cli/admin-client.ts'
import { ImportedFiles } from '../content/import/answer.ts'
import { contentFileLines, generateContentFiles } from './content-file-generator.ts'
import { createReplay, csvHeader } from './history.ts'
import type { DemoState } from './state.ts'
import { modelledStations, recordedStations } from './stations.ts'

/** Ensures that each device has a password in the state file: registers it, or rotates a lost password. */
export async function registerDevices(client: AdminClient, state: DemoState): Promise<number> {
  let made = 0
  for (const station of [...recordedStations, ...modelledStations]) {
    const { name, location_short, location_desc, altitude_m, expected_interval_seconds, battery, profile } = station
    const { battery_type = null } = station
    const path = `/devices/${encodeURIComponent(name)}`
    const found = await client.send('GET', path)
    await found.body?.cancel()
    if (found.ok && state.passwords[name] !== undefined) continue
    const place = { name, location_short, location_desc, altitude_m, expected_interval_seconds }
    const device = { ...place, battery, battery_type, profile }
    const issued = found.ok
      ? await client.json(IssuedPassword, 'POST', `${path}/rotate?now=1`)
      : await client.json(IssuedPassword, 'POST', '/devices', device)
    state.passwords[name] = issued.password
    made++
  }
  return made
}

/** Imports what lies between the end of the last run and now; at the first run a whole round of each record. */
export async function importHistory(client: AdminClient, state: DemoState, nowMs: number): Promise<number> {
  let lines = ''
  for (const station of recordedStations) {
    const replay = createReplay(station)
    // A stop of more than a round is filled with the last one, so the import never grows.
    const afterMs = Math.max(nowMs - replay.periodMs, state.filledUntilMs ?? 0)
    lines += replay.lines(afterMs, nowMs)
  }
  // After a short stop there is nothing to import, and an import of nothing is refused.
  const accepted = lines === '' ? 0 : await importLines(client, lines)
  state.filledUntilMs = nowMs
  return accepted
}

async function importLines(client: AdminClient, lines: string): Promise<number> {
  const headers = { 'content-type': 'text/csv' }
  const response = await client.send('POST', '/import', { body: csvHeader + lines, headers })
  if (!response.ok) throw await refusal(response)
  const { accepted, rejects } = z.parse(ImportAnswer, await response.json())
  const [first] = rejects
  if (first !== undefined) throw new Error(`line ${first.line} of the history was refused: ${first.reason}`)
  return accepted
}

const contentFiles = { seed: 6, count: 400, filesPerRunMax: 12 }

/** Returns the number of new files; the import is idempotent. */
export async function importContentFiles(client: AdminClient): Promise<number> {
  const body = contentFileLines(generateContentFiles(contentFiles))
  const headers = { 'content-type': 'application/x-ndjson' }
  const response = await client.send('POST', '/content-files/import', { body, headers })
  if (!response.ok) throw await refusal(response)
  const { added, rejects } = z.parse(ImportedFiles, await response.json())
  const [first] = rejects
  if (first !== undefined) throw new Error(`line ${first.line} of the content files was refused: ${first.reason}`)
  return added
}
