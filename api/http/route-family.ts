/** An API of the server: its operations and their routes below a prefix, and its answers to other paths. */

import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteHandlerMethod } from 'fastify'
import type { Operation, OperationFamily } from './operation.ts'

export interface RouteFamily {
  /** Example: `/api/admin`. The longest matching prefix takes precedence. */
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

/** The parts of a server's scope that a family may use: parsers, hooks and error handlers, but no routes. */
export type Scope = Pick<
  FastifyInstance,
  | 'addContentTypeParser'
  | 'addHook'
  | 'decorate'
  | 'decorateRequest'
  | 'removeAllContentTypeParsers'
  | 'setErrorHandler'
  | 'setNotFoundHandler'
>

/** Checks and answers of a family. */
export interface Rules<Declared extends Operation> {
  /**
   * `handled` passes HEAD to the handler of GET, `refused` refuses it. By default, the framework answers it by that
   * handler, with the length of the omitted body.
   */
  head?: 'refused' | 'handled'
  /** Runs before the body is read. */
  onRequest?(operation: Declared): onRequestHookHandler
  handler(operation: Declared): RouteHandlerMethod
  /** Answers OPTIONS on a path. By default, OPTIONS is a method like others. */
  preflight?(operations: readonly Declared[]): RouteHandlerMethod | undefined
  /** Answers a method that the path does not have, before the body is read. */
  refuseMethod(
    request: FastifyRequest,
    reply: FastifyReply,
    allowed: readonly string[],
    operations: readonly Declared[],
  ): FastifyReply | Promise<FastifyReply>
}

/** Operations whose requests are read in the same way. */
export interface OperationGroup<Declared extends Operation> {
  /** Separate heading in the contract. */
  tag?: OperationFamily['tag']
  operations: readonly Declared[]
  /** Adds parsers and hooks to the scope of the group. */
  prepare?(scope: Scope): void
}

export interface FamilyDefinition<Declared extends Operation>
  extends Omit<OperationFamily<Declared>, 'operations'>,
    Omit<RouteFamily, 'register' | 'published'> {
  groups: readonly OperationGroup<Declared>[]
  rules: Rules<Declared>
  /** Adds hooks and error handlers to the scope of all groups. */
  prepare(scope: Scope): void
}

export type PublishedFamily<Declared extends Operation> = RouteFamily & OperationFamily<Declared>

/** The server and the contract get the same operations. */
export function createFamily<Declared extends Operation>(
  definition: FamilyDefinition<Declared>,
): PublishedFamily<Declared> {
  const { groups, rules, prepare, ...family } = definition
  return {
    ...family,
    operations: groups.flatMap(({ operations }) => operations),
    published: groups.map(({ operations, tag = family.tag }) => ({ ...family, operations, tag })),
    register(scope) {
      prepare(scope)
      for (const group of groups) registerGroup(scope, group, rules)
    },
  }
}

/** All published routes are registered here. Other methods of their paths get a 405. */
export function registerGroup<Declared extends Operation>(
  scope: FastifyInstance,
  { operations, prepare }: OperationGroup<Declared>,
  rules: Rules<Declared>,
): void {
  scope.register((own, _options, done) => {
    prepare?.(own)
    const byPath = Map.groupBy(operations, ({ path }) => path)
    for (const [path, ofPath] of byPath) registerPath(own, path, ofPath, rules)
    done()
  })
}

const bodyBytesMaxUsual = 64 * 1024

function registerPath<Declared extends Operation>(
  scope: FastifyInstance,
  url: string,
  operations: readonly Declared[],
  rules: Rules<Declared>,
): void {
  for (const operation of operations) {
    const { method, body, bodyBytesMax = bodyBytesMaxUsual } = operation
    scope.route({
      method: method === 'GET' && rules.head === 'handled' ? ['GET', 'HEAD'] : method,
      url,
      config: { hasRawBody: body?.isRaw === true },
      bodyLimit: bodyBytesMax,
      exposeHeadRoute: rules.head === undefined,
      onRequest: rules.onRequest?.(operation) ?? [],
      handler: rules.handler(operation),
    })
  }
  const preflight = rules.preflight?.(operations)
  if (preflight !== undefined) scope.route({ method: 'OPTIONS', url, handler: preflight })
  const allowed: string[] = operations.flatMap(({ method }) =>
    method === 'GET' && rules.head !== 'refused' ? ['GET', 'HEAD'] : [method],
  )
  if (preflight !== undefined) allowed.push('OPTIONS')
  scope.route({
    method: scope.supportedMethods.filter(method => !allowed.includes(method)),
    url,
    onRequest: async (request, reply) => rules.refuseMethod(request, reply, allowed, operations),
    handler: () => undefined,
  })
}
