/** Receivers that record each notification once, and the check of the record. */

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
  /** Each notification once, in the order of the first arrival. */
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

/** `wanted`: the number of alerts. Each has fired and ended. */
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
