/** An Alertmanager (API v2) that notes of each device which alerts it was told: it is told all of them, however many there are. */

import { startReceiver } from '../support/alert-receiver.ts'
import type { TestHooks } from '../support/databases.ts'

interface Posted {
  labels: { device?: string }
  startsAt: string
  endsAt: string
}

export interface ToldDevice {
  /** When its alerts began. */
  starts: Set<string>
  /** Beginning and end of those that are over. */
  ends: Set<string>
  /** How often one was told as firing that had been told as over. */
  revived: number
}

export interface AlertmanagerReceiver {
  origin: string
  /** By the names of devices. */
  told: Map<string, ToldDevice>
  requests(): number
  /** From here on: it answers 500, and takes nothing. */
  fails: boolean
}

export async function startAlertmanagerReceiver(hooks: TestHooks): Promise<AlertmanagerReceiver> {
  const told = new Map<string, ToldDevice>()
  const receiver = await startReceiver(hooks)
  const alertmanager: AlertmanagerReceiver = {
    origin: receiver.origin,
    told,
    requests: () => receiver.received.length,
    fails: false,
  }
  receiver.answer = (response, { body }) => {
    const nowMs = Date.now()
    if (!alertmanager.fails) for (const posted of JSON.parse(body) as Posted[]) note(told, posted, nowMs)
    response.writeHead(alertmanager.fails ? 500 : 200).end()
  }
  return alertmanager
}

/** One that fires has an end in the future, by which it would be over if nothing more was heard of it. */
function note(told: Map<string, ToldDevice>, { labels, startsAt, endsAt }: Posted, nowMs: number): void {
  const device = labels.device ?? ''
  const known = told.get(device) ?? { starts: new Set(), ends: new Set(), revived: 0 }
  told.set(device, known)
  known.starts.add(startsAt)
  if (Date.parse(endsAt) <= nowMs) known.ends.add(`${startsAt} ${endsAt}`)
  else if ([...known.ends].some(ended => ended.startsWith(`${startsAt} `))) known.revived++
}

/** Against devices that have had one alert each, which is over. */
export function faultsOf(told: ReadonlyMap<string, ToldDevice>, names: readonly string[]): string[] {
  const wanted = new Set(names)
  const none: ToldDevice = { starts: new Set(), ends: new Set(), revived: 0 }
  const judged: [fault: string, devices: string[]][] = [
    ['missed', names.filter(name => !told.has(name))],
    ['phantom', [...told.keys()].filter(name => !wanted.has(name))],
    ['told twice', names.filter(name => (told.get(name) ?? none).starts.size > 1)],
    ['end missed', names.filter(name => (told.get(name) ?? none).ends.size === 0)],
    ['ended twice', names.filter(name => (told.get(name) ?? none).ends.size > 1)],
    ['undead', names.filter(name => (told.get(name) ?? none).revived > 0)],
  ]
  return judged.flatMap(([fault, [first, ...others]]) =>
    first === undefined ? [] : [`alerts: ${fault}, ${others.length + 1} devices: ${first}`],
  )
}
