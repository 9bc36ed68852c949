/** Receivers of alerts that note what they get, each notification once, and the judgement of it. */

import type { ServerResponse } from 'node:http'
import type { Message } from '../../alerts/core/message.ts'
import { startReceiver } from '../support/alert-receiver.ts'
import type { TestHooks } from '../support/databases.ts'

export interface Notification extends Pick<Message, 'type' | 'timestamp' | 'alerts'> {
  webhookId: string
}

export interface CountingReceiver {
  url: string
  origin: string
  /** Each once, however often it came, in the order in which it came first. */
  received: Notification[]
  repeats: number
  answer: (response: ServerResponse) => void
}

export async function startCountingReceiver(hooks: TestHooks): Promise<CountingReceiver> {
  const known = new Set<string>()
  const receiver = await startReceiver(hooks)
  const counting: CountingReceiver = {
    url: `${receiver.origin}/hook`,
    origin: receiver.origin,
    received: [],
    repeats: 0,
    answer: response => void response.writeHead(204).end(),
  }
  receiver.answer = (response, { headers, body }) => {
    const webhookId = String(headers['webhook-id'])
    const { type, timestamp, data } = JSON.parse(body)
    if (known.has(webhookId)) counting.repeats++
    else counting.received.push({ webhookId, type, timestamp, alerts: data.alerts })
    known.add(webhookId)
    counting.answer(response)
  }
  return counting
}

/** `wanted`: how many alerts there were, of which each has fired and ended. */
export function faultsIn(received: readonly Notification[], wanted: number): string[] {
  const faults: string[] = []
  const firing = new Set<string>()
  const resolved = new Set<string>()
  const inOrder = received.toSorted((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp))
  for (const { webhookId, type, alerts } of inOrder) {
    const isNews = alerts.some(({ id, state }) => state === 'firing' && !firing.has(id))
    if (type === 'alert.firing' && !isNews) faults.push(`alerts: told twice, again by ${webhookId}`)
    for (const { id, state } of alerts) {
      if (state === 'firing') firing.add(id)
      else if (resolved.has(id)) faults.push(`alerts: ${id} ends twice`)
      else resolved.add(id)
    }
  }
  if (firing.size !== wanted) faults.push(`alerts: ${firing.size} told in place of ${wanted}`)
  if (resolved.size !== wanted) faults.push(`alerts: the end of ${resolved.size} told in place of ${wanted}`)
  return faults
}

interface Posted {
  labels: { device?: string }
  startsAt: string
  endsAt: string
}

export interface AlertsOfDevice {
  starts: Set<string>
  /** Beginning and end of those that are over. */
  ends: Set<string>
  /** How often one came as firing that had come as over. */
  revived: number
}

/** An Alertmanager (API v2), which gets all alerts, however many there are. */
export interface AlertmanagerReceiver {
  origin: string
  alerts: Map<string, AlertsOfDevice>
  requests(): number
  /** From here on: it answers 500, and takes nothing. */
  fails: boolean
}

export async function startAlertmanagerReceiver(hooks: TestHooks): Promise<AlertmanagerReceiver> {
  const alerts = new Map<string, AlertsOfDevice>()
  const receiver = await startReceiver(hooks)
  const requests = () => receiver.received.length
  const alertmanager: AlertmanagerReceiver = { origin: receiver.origin, alerts, requests, fails: false }
  receiver.answer = (response, { body }) => {
    const nowMs = Date.now()
    if (!alertmanager.fails) for (const posted of JSON.parse(body) as Posted[]) note(alerts, posted, nowMs)
    response.writeHead(alertmanager.fails ? 500 : 200).end()
  }
  return alertmanager
}

const none: AlertsOfDevice = { starts: new Set(), ends: new Set(), revived: 0 }

/** One that fires has an end in the future, by which it would be over if nothing more was heard of it. */
function note(alerts: Map<string, AlertsOfDevice>, { labels, startsAt, endsAt }: Posted, nowMs: number): void {
  const device = labels.device ?? ''
  const known = alerts.get(device) ?? { starts: new Set(), ends: new Set(), revived: 0 }
  alerts.set(device, known)
  known.starts.add(startsAt)
  if (Date.parse(endsAt) <= nowMs) known.ends.add(`${startsAt} ${endsAt}`)
  else if ([...known.ends].some(ended => ended.startsWith(`${startsAt} `))) known.revived++
}

/** `names`: devices that have had one alert each, which is over. */
export function faultsOf(alerts: ReadonlyMap<string, AlertsOfDevice>, names: readonly string[]): string[] {
  const wanted = new Set(names)
  const namesWith = (isFault: (alerts: AlertsOfDevice) => boolean) =>
    names.filter(name => isFault(alerts.get(name) ?? none))
  const judged: [fault: string, devices: string[]][] = [
    ['missed', names.filter(name => !alerts.has(name))],
    ['phantom', [...alerts.keys()].filter(name => !wanted.has(name))],
    ['told twice', namesWith(({ starts }) => starts.size > 1)],
    ['end missed', namesWith(({ ends }) => ends.size === 0)],
    ['ended twice', namesWith(({ ends }) => ends.size > 1)],
    ['undead', namesWith(({ revived }) => revived > 0)],
  ]
  return judged.flatMap(([fault, [first, ...others]]) =>
    first === undefined ? [] : [`alerts: ${fault}, ${others.length + 1} devices: ${first}`],
  )
}
