/** `POST /retention/confirm`: days of raw readings that wait for a person may expire. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Retention } from '../../lifecycle/retention/retention.ts'
import { actorIn } from './guard.ts'
import type { WriteLateAudit } from './late-audit.ts'
import { addPath } from './paths.ts'
import { sendInvalid, sendProblem } from './problem.ts'

export interface RetentionRouteOptions {
  retention: Pick<Retention, 'state' | 'confirm'>
  audit: WriteLateAudit
}

export const Confirmation = z.strictObject({
  before: z.iso.date().meta({
    description: 'The days before this one (UTC) may expire: `waiting.before` of the status, or an earlier day',
  }),
})
export const Confirmed = z.object({ before: z.iso.date() })

export function registerRetention(scope: FastifyInstance, { retention, audit }: RetentionRouteOptions): void {
  async function confirm(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const wanted = Confirmation.safeParse(request.body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const { before } = wanted.data
    if (!(await retention.confirm(Date.parse(before)))) {
      return sendProblem(reply, 'NO_WAITING_DAYS', { detail: `no days before ${before} wait for a confirmation` })
    }
    await audit({ actor: actorIn(request), action: 'retention.confirm', subject: before })
    return reply.send({ before } satisfies z.infer<typeof Confirmed>)
  }

  addPath(scope, '/retention/confirm', { POST: confirm })
}
