/** A webhook that notes what it is told, each notification once, and answers as a row of the matrix has it answer. */

import type { ServerResponse } from 'node:http'
import type { Message } from '../../alerts/core/message.ts'
import { startReceiver } from '../support/alert-receiver.ts'
import type { TestHooks } from '../support/databases.ts'

export interface ToldNotification extends Pick<Message, 'type' | 'timestamp' | 'alerts'> {
  webhookId: string
}

export interface CountingReceiver {
  url: string
  origin: string
  /** Each once, however often it came, in the order in which it came first. */
  received: ToldNotification[]
  /** How often something came that had come before. */
  repeats(): number
  /** From here on; without one, 204. */
  answer: (response: ServerResponse) => void
}

export async function startCountingReceiver(hooks: TestHooks): Promise<CountingReceiver> {
  const received: ToldNotification[] = []
  const known = new Set<string>()
  let repeats = 0
  const receiver = await startReceiver(hooks)
  const counting: CountingReceiver = {
    url: `${receiver.origin}/hook`,
    origin: receiver.origin,
    received,
    repeats: () => repeats,
    answer: response => void response.writeHead(204).end(),
  }
  receiver.answer = (response, { headers, body }) => {
    const webhookId = String(headers['webhook-id'])
    const { type, timestamp, data } = JSON.parse(body)
    if (known.has(webhookId)) repeats++
    else received.push({ webhookId, type, timestamp, alerts: data.alerts })
    known.add(webhookId)
    counting.answer(response)
  }
  return counting
}
