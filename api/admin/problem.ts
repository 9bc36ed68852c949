/** How the admin API tells what is wrong: a problem document (RFC 9457), the same for every route. */

import type { FastifyReply } from 'fastify'
import type { z } from 'zod'

export interface Fault {
  /** Where in the body or the address: `[3].name`, `page`; empty for the whole. */
  path: string
  message: string
}

export interface Problem {
  status: number
  /** The same for every occurrence; programs tell problems apart by `type`, which is made of it. */
  title: string
  /** This occurrence, for a person. */
  detail?: string
  errors?: readonly Fault[]
  /** Members of this kind of problem alone, such as how far it came (RFC 9457, 3.2). */
  members?: Readonly<Record<string, unknown>>
}

/** In every 503: when it is worth another try. */
export const retryAfterSeconds = '5'

/** A person mends the first few and tries again; a list of ten thousand helps nobody. */
const errorsMax = 100

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { status, title, detail, errors, members } = problem
  return reply
    .code(status)
    .header('content-type', 'application/problem+json')
    .send(
      JSON.stringify({
        type: `urn:barograph:problem:${title.replaceAll(' ', '-')}`,
        title,
        status,
        ...(detail === undefined ? {} : { detail }),
        ...(errors === undefined ? {} : { errors: errors.slice(0, errorsMax) }),
        ...members,
      }),
    )
}

/** What a schema has found: 422 in a body, 400 in an address. */
export function sendInvalid(reply: FastifyReply, status: 400 | 422, error: z.ZodError): FastifyReply {
  const errors = error.issues.map(issue => ({ path: pathOf(issue.path), message: issue.message }))
  return sendProblem(reply, { status, title: status === 400 ? 'invalid query' : 'invalid body', errors })
}

function pathOf(path: readonly PropertyKey[]): string {
  const steps = path.map(step => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
  return steps.join('').replace(/^\./, '')
}
