/** The rules of the demo: a device that falls silent now and then, a battery that runs low, a freezer that is too warm, and a mail for each. */

import { z } from 'zod'
import type { RuleFile } from '../../api/alerts/rule-file.ts'
import type { Started } from './service.ts'

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
