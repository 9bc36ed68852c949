/** Declares the operations on records of one kind, such as partners: list, read, add, change and remove. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { type AdminOperation, type OperationInput, operation } from './operation.ts'
import { type AdminErrorCode, sendProblem } from './problem.ts'

interface RecordKind<Key extends string, Id, Refusal> {
  /** Prefix of the family. The list is below it. */
  prefix: string
  list: string
  /** Name of the path parameter and of the record's field. */
  key: Key
  id: z.ZodType<Id>
  /** Error for a path without a record. */
  unknown: AdminErrorCode
  refuse(reply: FastifyReply, refusal: Refusal): FastifyReply
}

interface Described<Query, Body> {
  name: string
  summary: string
  description?: string
  query?: z.ZodType<Query>
  body?: z.ZodType<Body>
  /** Describes the answer in the contract. */
  answer: string
  json?: z.ZodType
  /** Refusals beyond an unknown record and an unknown outcome. */
  refusals?: readonly AdminErrorCode[]
  /** Path below a record: `/rotate`. */
  below?: string
}

interface Read<Path, Query> extends Described<Query, undefined> {
  /** Undefined if the record does not exist. */
  read(asked: OperationInput<Path, Query>): unknown
}

interface Change<Path, Query, Body, Value, Refusal> extends Described<Query, Body> {
  run(asked: OperationInput<Path, Query, Body>): Promise<{ readonly ok: true; readonly value: Value } | Refusal>
  /** Selects the fields of the answer; all by default. */
  shown?(value: Value): unknown
}

export function recordOperations<Key extends string, Id, Refusal extends { readonly ok: false }>(
  kind: RecordKind<Key, Id, Refusal>,
) {
  type Path = Record<Key, Id>
  const { prefix, list, key, unknown, refuse } = kind
  const path = z.object({ [key]: kind.id }) as unknown as z.ZodType<Path>
  const place = list === '/' ? '/' : `${list}/`
  const ofOne = (below = '') => ({ path: `${place}:${key}${below}`, pathError: unknown })

  function change(method: 'PATCH' | 'POST' | 'DELETE', status: 200 | 204) {
    return <Query, Body, Value>(given: Change<Path, Query, Body, Value, Refusal>): AdminOperation =>
      operation<Path, Query, Body>({
        ...declared(given, status, path),
        ...ofOne(given.below),
        method,
        refusals: [unknown, ...(given.refusals ?? []), 'OUTCOME_UNKNOWN'],
        async handle(asked, reply) {
          const changed = await given.run(asked)
          if (!changed.ok) return refuse(reply, changed)
          return status === 204 ? reply.code(status).send() : reply.send(shown(given, changed.value))
        },
      })
  }

  return {
    list: <Query>(given: Read<undefined, Query>): AdminOperation =>
      operation<undefined, Query>({
        ...declared(given, 200),
        method: 'GET',
        path: list,
        handle: async (asked, reply) => reply.send(await given.read(asked)),
      }),

    one: <Query>(given: Read<Path, Query>): AdminOperation =>
      operation<Path, Query>({
        ...declared(given, 200, path),
        ...ofOne(given.below),
        method: 'GET',
        refusals: [unknown, ...(given.refusals ?? [])],
        async handle(asked, reply) {
          const found = await given.read(asked)
          return found === undefined ? sendProblem(reply, unknown) : reply.send(found)
        },
      }),

    addition: <Body, Value extends Readonly<Record<Key, string | number>>>(
      given: Change<undefined, undefined, Body, Value, Refusal>,
    ): AdminOperation =>
      operation<undefined, undefined, Body>({
        ...declared(given, 201),
        method: 'POST',
        path: list,
        refusals: [...(given.refusals ?? []), 'OUTCOME_UNKNOWN'],
        async handle(asked, reply) {
          const added = await given.run(asked)
          if (!added.ok) return refuse(reply, added)
          const address = `${prefix}${place}${added.value[key]}`
          return reply.code(201).header('location', address).send(shown(given, added.value))
        },
      }),

    change: change('PATCH', 200),
    action: change('POST', 200),
    removal: change('DELETE', 204),
  }
}

function declared<Path, Query, Body>(given: Described<Query, Body>, status: number, path?: z.ZodType<Path>) {
  const { name, summary, description, query, body, answer, json, refusals = [] } = given
  return {
    name,
    summary,
    ...(description === undefined ? {} : { description }),
    parameters: { ...(path === undefined ? {} : { path }), ...(query === undefined ? {} : { query }) },
    ...(body === undefined ? {} : { body: { json: body } }),
    success: { status, description: answer, ...(json === undefined ? {} : { json }) },
    refusals,
  }
}

function shown<Value>({ shown = same => same }: { shown?(value: Value): unknown }, value: Value): unknown {
  return shown(value)
}
