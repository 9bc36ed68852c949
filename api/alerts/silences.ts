/** Silences by HTTP: a list, one, a new one, and its end. */

import { z } from 'zod'
import { NewSilence, Silence } from '../../alerts/core/silence.ts'
import type { AlertSilences } from '../../alerts/outbox/silence-rows.ts'
import { type AdminOperation, operation } from '../admin/operation.ts'
import { sendProblem } from '../admin/problem.ts'
import { idPath, ListQuery, nextOf, ownerIn, sendRefusal } from './asked.ts'

export interface SilenceOptions {
  alerts: { silences: AlertSilences }
}

const ShownSilence = Silence.meta({ id: 'Silence' })
export const SilenceList = z
  .object({ silences: z.array(ShownSilence), next: z.int().nullable() })
  .meta({ id: 'SilenceList' })

export function silenceOperations({ alerts: { silences } }: SilenceOptions): AdminOperation[] {
  return [...reads(silences), ...changes(silences)]
}

function reads(silences: AlertSilences): AdminOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/',
      name: 'list_silences',
      summary: 'Silences that are not over, newest first',
      parameters: { query: ListQuery },
      success: { status: 200, description: 'A page of them', json: SilenceList },
      async handle(asked, reply) {
        const { limit, after } = asked.query
        const rows = await silences.list(ownerIn(asked), { limit, after })
        return reply.send({ silences: rows, next: nextOf(rows, limit) })
      },
    }),
    operation({
      method: 'GET',
      path: '/:id',
      name: 'get_silence',
      summary: 'One silence',
      parameters: { path: idPath },
      pathError: 'SILENCE_UNKNOWN',
      success: { status: 200, description: 'The silence', json: ShownSilence },
      refusals: ['SILENCE_UNKNOWN'],
      async handle(asked, reply) {
        const silence = await silences.get(ownerIn(asked), asked.path.id)
        return silence === undefined ? sendProblem(reply, 'SILENCE_UNKNOWN') : reply.send(silence)
      },
    }),
  ]
}

function changes(silences: AlertSilences): AdminOperation[] {
  return [
    operation({
      method: 'POST',
      path: '/',
      name: 'add_silence',
      summary: 'Silence alerts',
      description:
        'Alerts fire as before, without notifications; those that still fire at its end are notified then. The end of an alert ' +
        'that was notified is told all the same. Of an administrator, it silences alerts of all rules.',
      body: { json: NewSilence.meta({ id: 'NewSilence' }) },
      success: { status: 201, description: 'The silence', json: ShownSilence },
      refusals: ['RULE_UNKNOWN', 'TOO_MANY_SILENCES', 'OUTCOME_UNKNOWN'],
      async handle(asked, reply) {
        const added = await silences.add(ownerIn(asked), asked.body, asked.actor)
        if (!added.ok) return sendRefusal(reply, added)
        return reply.code(201).header('location', `/api/silences/${added.value.id}`).send(added.value)
      },
    }),
    operation({
      method: 'DELETE',
      path: '/:id',
      name: 'remove_silence',
      summary: 'End a silence',
      parameters: { path: idPath },
      pathError: 'SILENCE_UNKNOWN',
      success: { status: 204, description: 'It is ended' },
      refusals: ['SILENCE_UNKNOWN', 'OUTCOME_UNKNOWN'],
      async handle(asked, reply) {
        const removed = await silences.remove(ownerIn(asked), asked.path.id, asked.actor)
        return removed.ok ? reply.code(204).send() : sendRefusal(reply, removed)
      },
    }),
  ]
}
