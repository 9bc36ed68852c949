/** One API as the server takes it: its routes below a prefix, and what it says of paths that reach none of them. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OperationFamily } from './operation.ts'

export interface RouteFamily {
  /** `/api/admin`. Of two that a path lies below, the longer one has it. */
  prefix: string
  /** Its operations as the contract has them; pages have none. */
  published: readonly OperationFamily[]
  /** Registers the routes on a scope of their own, whose paths begin behind the prefix. */
  register: (scope: FastifyInstance) => void
  /** What the router gets to see of an address below the prefix; without it, the address as sent. */
  routedUrl?: (url: string) => string
  /** Answers a path that the router cannot read: it reaches no route and no hook. Without it, the server answers. */
  refusePath?: (request: FastifyRequest, reply: FastifyReply, code: number) => void
}

/** The family that a path lies below. */
export function createFamilyFinder(families: readonly RouteFamily[]): (url: string) => RouteFamily | undefined {
  const byLength = families
    .map(family => ({ family, folder: `${family.prefix}/` }))
    .sort((a, b) => b.folder.length - a.folder.length)
  return url => byLength.find(({ folder }) => url.startsWith(folder))?.family
}
