/** `POST /retention/confirm`: confirms pending deletion of expired raw readings. */

import { z } from 'zod'
import type { Retention } from '../../service/lifecycle/retention/retention.ts'
import type { WriteLateAudit } from './late-audit.ts'
import { type AdminOperation, operation } from './operation.ts'
import { sendProblem } from './problem.ts'

export interface RetentionRouteOptions {
  retention: Pick<Retention, 'state' | 'confirm'>
  audit: WriteLateAudit
}

const Confirmation = z.strictObject({
  before: z.iso.date().meta({
    description: 'The days before this one (UTC) may expire: `waiting.before` of the status, or an earlier day',
  }),
})
export const Confirmed = z.object({ before: z.iso.date() })

export function retentionOperation({ retention, audit }: RetentionRouteOptions): AdminOperation {
  return operation({
    method: 'POST',
    path: '/retention/confirm',
    name: 'admin_confirm_retention',
    summary: 'Confirm pending deletion of expired raw readings',
    description: 'Their raw readings are removed within two hours; their hours stay.',
    body: { json: Confirmation.meta({ id: 'RetentionConfirmation' }) },
    success: {
      status: 200,
      description: 'The days before this expire',
      json: Confirmed.meta({ id: 'RetentionConfirmed' }),
    },
    refusals: ['NO_WAITING_DAYS'],
    async handle({ body: { before }, actor }, reply) {
      if (!(await retention.confirm(Date.parse(before)))) {
        return sendProblem(reply, 'NO_WAITING_DAYS', { detail: `no days before ${before} are pending` })
      }
      await audit({ actor, action: 'retention.confirm', subject: before })
      return reply.send({ before } satisfies z.infer<typeof Confirmed>)
    },
  })
}
