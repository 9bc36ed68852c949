/** The id in the path of a record: of an account, of an invitation. */

import type { FastifyRequest } from 'fastify'

/** Undefined for what can be the id of none. */
export function idIn(request: FastifyRequest): number | undefined {
  const { id } = request.params as { id: string }
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : Number.NaN
  return number <= 2_147_483_647 ? number : undefined
}
