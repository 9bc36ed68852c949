/** An API of the server: its routes below a prefix, and its answers to other paths. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OperationFamily } from './operation.ts'

export interface RouteFamily {
  /** For example `/api/admin`. The longest matching prefix takes precedence. */
  prefix: string
  /** Operations in the contract. Pages have none. */
  published: readonly OperationFamily[]
  /** Registers the routes on their own scope, whose paths exclude the prefix. */
  register: (scope: FastifyInstance) => void
  /** Rewrites an address below the prefix for the router. */
  routedUrl?: (url: string) => string
  /**
   * Answers a path that the router cannot decode and that reaches no route and no hook. By default, the server answers.
   */
  refusePath?: (request: FastifyRequest, reply: FastifyReply, code: number) => void
}

export function createFamilyFinder(families: readonly RouteFamily[]): (url: string) => RouteFamily | undefined {
  const byLength = families
    .map(family => ({ family, folder: `${family.prefix}/` }))
    .sort((a, b) => b.folder.length - a.folder.length)
  return url => {
    const at = url.indexOf('?')
    const path = `${at === -1 ? url : url.slice(0, at)}/`
    return byLength.find(({ folder }) => path.startsWith(folder))?.family
  }
}
