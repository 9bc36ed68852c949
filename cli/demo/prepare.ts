/**
 * Prepares the demo before the live sensors start: registers devices, and imports their history up to now and content
 * files.
 */

import { z } from 'zod'
import { ImportAnswer } from '../../api/admin/answers.ts'
import type { RuleFile } from '../../api/alerts/rule-file.ts'
import { IssuedPassword } from '../../auth/devices/device.ts'
import { ImportedFiles } from '../../query/content/import/answer.ts'
import { type AdminClient, refusal } from '../admin-client.ts'
import { contentFileLines, generateContentFiles } from './content-file-generator.ts'
import { type History, historyCsv } from './history.ts'
import { createReadings } from './readings.ts'
import { silentBeforeMs } from './sensors.ts'
import type { Started } from './service.ts'
import type { DemoState } from './state.ts'
import { type Station, stations } from './stations.ts'

const dayMs = 86_400_000

/** Ensures that each device has a password in the state file: registers it, or rotates a lost password. */
export async function registerDevices(client: AdminClient, state: DemoState): Promise<number> {
  const made = await Promise.all(stations.map(station => ensureDevice(client, station, state)))
  return made.filter(isMade => isMade).length
}

async function ensureDevice(client: AdminClient, station: Station, state: DemoState): Promise<boolean> {
  const { name, location_short, location_desc, altitude_m, latitude, longitude, tags, profile } = station
  const { expected_interval_seconds } = station
  const battery = 'battery' in station ? station.battery : undefined
  const path = `/devices/${encodeURIComponent(name)}`
  const found = await client.send('GET', path)
  await found.body?.cancel()
  if (found.ok && state.passwords[name] !== undefined) return false
  const place = { name, location_short, location_desc, altitude_m, latitude, longitude }
  const settings = { tags, expected_interval_seconds, profile }
  const device = { ...place, ...settings, battery: battery !== undefined, battery_type: battery?.type ?? null }
  const issued = found.ok
    ? await client.json(IssuedPassword, 'POST', `${path}/rotate?now=1`)
    : await client.json(IssuedPassword, 'POST', '/devices', device)
  state.passwords[name] = issued.password
  return true
}

/** The time from the end of the last run to now, months at the first run. */
export function missingHistory(state: DemoState, startedMs: number, nowMs: number): History {
  return historyCsv(
    stations.map(station => {
      const { name, stepMs, historyDays } = station
      // A long stop is filled no further back, so the import never grows.
      const afterMs = Math.max(nowMs - historyDays * dayMs, state.filledUntilMs ?? 0)
      const untilMs = nowMs - ('isSilentAtTimes' in station ? silentBeforeMs : 0)
      return { name, stepMs, afterMs, untilMs, readings: createReadings(station, startedMs) }
    }),
  )
}

/** Returns the number of readings. */
export async function importHistory(client: AdminClient, { text, count }: History): Promise<number> {
  // After a short stop there is nothing to import, and an import of nothing is refused.
  return count === 0 ? 0 : await importLines(client, text)
}

async function importLines(client: AdminClient, lines: string): Promise<number> {
  const headers = { 'content-type': 'text/csv' }
  const response = await client.send('POST', '/import', { body: lines, headers })
  if (!response.ok) throw await refusal(response)
  const { accepted, rejects } = z.parse(ImportAnswer, await response.json())
  const [first] = rejects
  if (first !== undefined) throw new Error(`line ${first.line} of the history was refused: ${first.reason}`)
  return accepted
}

const contentFiles = { seed: 6, count: 400, filesPerRunMax: 12 }

/** Returns the number of new files. The import is idempotent. */
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

const channel = 'Mail to the demo'

const common = { for_seconds: 0, keep_firing_seconds: 0, channels: [channel], group_by: null, enabled: true }

const rules: RuleFile['rules'] = [
  {
    ...common,
    name: 'The greenhouse is silent',
    selector: { devices: ['greenhouse'] },
    condition: { kind: 'silent', after_seconds: 360 },
    severity: 'warning',
    note: 'It comes back by itself: it is at the edge of the Wi-Fi.',
  },
  {
    ...common,
    name: 'A battery runs low',
    selector: { all: true },
    condition: { kind: 'battery', metric: 'battery_percentage', value: 20, hysteresis: 10 },
    severity: 'warning',
    note: 'Charge the cell, or take a full one along.',
  },
  {
    ...common,
    name: 'The freezer is too warm',
    selector: { devices: ['freezer'] },
    condition: { kind: 'above', metric: 'temperature', value: -12, hysteresis: 1 },
    for_seconds: 600,
    severity: 'critical',
    note: 'Is the lid open?',
  },
]

/** Existing rules and channels stay. `email`: the recipient of the first channel. */
export async function addRules({ admin, token }: Started, email: string): Promise<void> {
  async function send(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    const json = { 'content-type': 'application/json' }
    const response = await fetch(`${admin.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : json) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`The demo got no rules: ${response.status} ${await response.text()}`)
    return await response.json()
  }
  const { channels } = ChannelNames.parse(await send('GET', '/alert-channels'))
  if (!channels.some(({ name }) => name === channel)) {
    await send('POST', '/alert-channels', { name: channel, kind: 'email', settings: { to: email } })
  }
  await send('POST', '/alert-rules/import', { rules, channels: [] } satisfies RuleFile)
}

const ChannelNames = z.object({ channels: z.array(z.object({ name: z.string() })) })
