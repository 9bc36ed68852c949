/** Serves silences: lists, reads, adds and ends them. */

import { z } from 'zod'
import { NewSilence, Silence } from '../../alerts/core/silence.ts'
import type { AlertSilences } from '../../alerts/outbox/silence-rows.ts'
import type { AdminOperation } from '../admin/operation.ts'
import { recordOperations } from '../admin/record-operations.ts'
import { byId, ListQuery, nextOf, ownerIn, sendRefusal } from './guard-alerts.ts'

export interface SilenceOptions {
  alerts: { silences: AlertSilences }
}

const json = Silence.meta({ id: 'Silence' })
export const SilenceList = z.object({ silences: z.array(json), next: z.int().nullable() }).meta({ id: 'SilenceList' })

export function silenceOperations({ alerts: { silences } }: SilenceOptions): AdminOperation[] {
  const { list, one, addition, removal } = recordOperations({
    ...byId,
    prefix: '/api/silences',
    unknown: 'SILENCE_UNKNOWN',
    refuse: sendRefusal,
  })
  return [
    list({
      name: 'list_silences',
      summary: 'Silences that are not over, newest first',
      query: ListQuery,
      answer: 'A page of them',
      json: SilenceList,
      async read(asked) {
        const { limit, after } = asked.query
        const rows = await silences.list(ownerIn(asked), { limit, after })
        return { silences: rows, next: nextOf(rows, limit) }
      },
    }),
    one({
      name: 'get_silence',
      summary: 'One silence',
      answer: 'The silence',
      json,
      read: asked => silences.get(ownerIn(asked), asked.path.id),
    }),
    addition({
      name: 'add_silence',
      summary: 'Silence alerts',
      description:
        'Alerts fire without notifications. Alerts that still fire at its end are notified then. The end of an alert ' +
        'that was notified is sent in any case. A silence of an administrator covers alerts of all rules.',
      body: NewSilence.meta({ id: 'NewSilence' }),
      answer: 'The silence',
      json,
      refusals: ['RULE_UNKNOWN', 'TOO_MANY_SILENCES'],
      run: asked => silences.add(ownerIn(asked), asked.body, asked.actor),
    }),
    removal({
      name: 'remove_silence',
      summary: 'End a silence',
      answer: 'It is ended',
      run: asked => silences.remove(ownerIn(asked), asked.path.id, asked.actor),
    }),
  ]
}
