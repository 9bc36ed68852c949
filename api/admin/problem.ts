/** Sends errors of the admin API as problem documents (RFC 9457). */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { setRefusal } from '../http/errors.ts'
import type { Invalid } from '../http/operation.ts'
import { type AdminErrorCode, adminErrors } from './errors.ts'

export const Problem = z
  .object({
    type: z.string().meta({ description: 'Identifies the problem for programs.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'The error, and its place in the body or the address.' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457.' })

export interface Issue {
  /** Place in the body or the address: `[3].name`, `page`; empty for the whole. */
  path: string
  message: string
}

export interface Occurrence {
  /** Describes this occurrence to a person. */
  detail?: string | undefined
  errors?: readonly Issue[] | undefined
  /** Extension members of this kind of problem, such as its progress (RFC 9457, 3.2). */
  members?: Readonly<Record<string, unknown>> | undefined
}

/** A person corrects the first few and tries again. */
const errorsMax = 100

export function sendProblem(reply: FastifyReply, code: AdminErrorCode, occurrence: Occurrence = {}): FastifyReply {
  const { status, text: title } = adminErrors[code]
  const { detail, errors, members } = occurrence
  if (code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer realm="admin"')
  return setRefusal(reply, adminErrors[code])
    .header('content-type', 'application/problem+json')
    .send(
      JSON.stringify({
        // Programs identify the problem by it.
        type: `urn:barograph:problem:${title.replaceAll(' ', '-')}`,
        title,
        status,
        ...(detail === undefined ? {} : { detail }),
        ...(errors === undefined ? {} : { errors: errors.slice(0, errorsMax) }),
        ...members,
      }),
    )
}

/** QuestDB has not answered a read. */
export function sendQuestdbAway(reply: FastifyReply): FastifyReply {
  return sendProblem(reply, 'DATABASE_AWAY', { detail: reply.server.databaseFault?.() ?? 'QuestDB does not answer' })
}

/** Reports the issues of a body or an address. */
export function sendInvalid(reply: FastifyReply, code: 'QUERY_INVALID' | 'BODY_INVALID', error: Invalid): FastifyReply {
  return sendProblem(reply, code, { errors: issuesOf(error) })
}

export function issuesOf({ issues }: Invalid): Issue[] {
  return issues.map(({ path, message }) => ({ path: pathOf(path), message }))
}

function pathOf(path: readonly PropertyKey[]): string {
  const steps = path.map(step => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
  return steps.join('').replace(/^\./, '')
}
