/** `POST /api/alert-rules/preview`: evaluates a rule on stored readings. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { bounds } from '../../alerts/core/bounds.ts'
import { PreviewAnswer } from '../../alerts/core/preview-answer.ts'
import type { Preview } from '../../alerts/preview/preview.ts'
import type { AnswerCode } from '../../query/cache/body.ts'
import { BodyInterrupted } from '../../query/pieces.ts'
import { type AdminOperation, operation } from '../admin/operation.ts'
import { Problem, sendProblem, sendQuestdbAway } from '../admin/problem.ts'
import { disconnectSignalOf } from '../http/streamed-response.ts'
import { foreign, ownerIn, sendRefusal } from './guard-alerts.ts'
import { NewRuleBody } from './rules.ts'

export interface PreviewOperationOptions {
  alerts: { preview: Preview }
  nowMs: () => number
}

const dayMs = 86_400_000
const daysUsual = 30

const moment = z.iso.datetime({ offset: true }).transform(text => Date.parse(text))

const AskedPreview = z
  .strictObject({
    rule: NewRuleBody,
    from: moment.optional().meta({ description: `Without it, ${daysUsual} days before the end` }),
    to: moment.optional().meta({ description: 'Without it, and if it is later, now' }),
  })
  .meta({ id: 'AlertPreviewRequest' })

const PreviewProblem = Problem.extend({
  days: z
    .int()
    .optional()
    .meta({ description: 'For a preview that is too large, the number of days that would be accepted' }),
}).meta({ id: 'AlertPreviewProblem' })

export function previewOperation({ alerts: { preview }, nowMs }: PreviewOperationOptions): AdminOperation {
  return operation({
    method: 'POST',
    path: '/preview',
    name: 'preview_alert_rule',
    summary: 'How a rule would have behaved on the stored readings',
    description:
      `Of at most ${bounds.previewDevicesMax} devices and ${bounds.previewDaysMax} days. Nothing is stored, and no channel is ` +
      'notified.',
    body: { json: AskedPreview },
    success: { status: 200, description: 'When it would have fired', json: PreviewAnswer.meta({ id: 'AlertPreview' }) },
    refusals: ['OPERATOR_ONLY', 'PREVIEW_TOO_LARGE', 'PREVIEW_BUSY', 'CLOSING'],
    error: PreviewProblem,
    async handle(asked, reply) {
      const { body, principal } = asked
      const refusal = foreign([body.rule], principal)
      if (refusal !== undefined) return sendRefusal(reply, refusal)
      const range = rangeOf(body, nowMs())
      if ('message' in range) return sendProblem(reply, 'BODY_INVALID', { errors: [range] })
      const client = disconnectSignalOf(reply)
      try {
        const outcome = await preview.run({ rule: body.rule, owner: ownerIn(asked), ...range }, client)
        if (outcome.ok) return reply.send(outcome.value)
        if (outcome.code === 'PREVIEW_BUSY') return sendProblem(reply, outcome.code)
        return sendTooLarge(reply, outcome.days)
      } catch (error) {
        // The client has disconnected.
        return client.aborted ? sendProblem(reply, 'CLOSING') : sendInterrupted(reply, error)
      }
    },
  })
}

function rangeOf(
  { from, to }: Pick<z.infer<typeof AskedPreview>, 'from' | 'to'>,
  nowMs: number,
): { fromMs: number; toMs: number } | { path: string; message: string } {
  const toMs = Math.min(to ?? nowMs, nowMs)
  const fromMs = from ?? toMs - daysUsual * dayMs
  if (fromMs < 0) return { path: 'from', message: 'must not be before 1970' }
  if (fromMs >= toMs) return { path: 'from', message: 'must be before the end of the range, and before now' }
  if (toMs - fromMs > bounds.previewDaysMax * dayMs) {
    return { path: 'from', message: `must be at most ${bounds.previewDaysMax} days before the end of the range` }
  }
  return { fromMs, toMs }
}

function sendTooLarge(reply: FastifyReply, days: number): FastifyReply {
  const detail =
    days > 0 ? `ask for at most ${days} days of these devices` : 'ask for fewer devices: not a day of these fits'
  return sendProblem(reply, 'PREVIEW_TOO_LARGE', { detail, members: { days } })
}

/** Reports a read that was interrupted. */
function sendInterrupted(reply: FastifyReply, error: unknown): FastifyReply {
  if (!(error instanceof BodyInterrupted)) throw error
  const { code } = error as BodyInterrupted<AnswerCode>
  switch (code) {
    case 'CLOSING':
      return sendProblem(reply, 'CLOSING')
    case 'QUEUE_FULL':
      return sendProblem(reply, 'PREVIEW_BUSY')
    default:
      return sendQuestdbAway(reply)
  }
}
