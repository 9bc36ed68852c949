/** What a receiver was told of alerts, judged. */

import type { ToldNotification } from './receiver.ts'

/** Against how many alerts there were, of which each has fired and ended. */
export function faultsIn(received: readonly ToldNotification[], wanted: number): string[] {
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
