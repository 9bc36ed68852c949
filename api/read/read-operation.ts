/** Declares a read: its subject, its parameters, its answer and its contract. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { editDistance } from '../../store/edit-distance.ts'
import { hasTooManyArguments } from '../http/parameters.ts'
import { addCorsHeaders, answerPreflight } from '../http/response-headers.ts'
import type { OperationGroup } from '../http/route-family.ts'
import type { LoggerErrorCode, ReadOperation } from '../http/status-operations.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse, type Sent } from './read-access.ts'
import type { AwaitedSubject, Resolved, Subject } from './read-subjects.ts'

type Declared = Pick<
  ReadOperation,
  'path' | 'publishedPath' | 'name' | 'summary' | 'description' | 'success' | 'others' | 'refusals'
>

export interface Read<About> extends Declared {
  subject: Subject<About> | AwaitedSubject<About>
  /** The query string includes the parameters of the subject. */
  parameters?: { path?: z.ZodType; query?: z.ZodObject; header?: z.ZodType }
  /** True for a read of the given interface: with open reads, it ignores unknown parameters. */
  ignoresUnknown?: boolean
  /** The handler names the parameters and the query string of its path. */
  handle(about: About, request: never, reply: FastifyReply): Sent
}

/** Required with READS=private. */
const credentials = ['session', 'bearer', 'apiKey', 'bearerKey', 'device', 'adminToken', 'viewLink']

export function readOperation<About>(access: ReadAccess, read: Read<About>): ReadOperation {
  const { subject, ignoresUnknown = false, handle, ...declared } = read
  const names = Object.keys(declared.parameters?.query?.shape ?? {})
  const answer = handle as (about: About, request: FastifyRequest, reply: FastifyReply) => Sent
  // If the reader matters, an unknown parameter is refused, as it may have been meant to narrow the answer.
  const isStrict = !(ignoresUnknown && access.isOpen)
  return {
    ...declared,
    method: 'GET',
    credentials: access.isOpen ? [] : credentials,
    subject,
    onRequest: boundArguments,
    preflight: answerPreflight,
    handler(request, reply) {
      const unknown = isStrict ? unknownParameter(request.query as object, names) : undefined
      if (unknown !== undefined) return refuse(reply, 'PARAMETER_INVALID', unknown)
      const send = (resolved: Resolved<About>) =>
        resolved.ok ? answer(resolved.about, request, reply) : refuse(reply, resolved.code, resolved.text)
      const resolved = subject.resolve(request, access.readerOf(request))
      // Devices in memory are answered within this turn.
      return resolved instanceof Promise ? resolved.then(send) : send(resolved)
    },
  }
}

/** Declares a read that answers JSON with an ETag. */
export function jsonRead<About>(
  access: ReadAccess,
  { answer, ...read }: Omit<Read<About>, 'success' | 'others'> & { answer: z.ZodType },
): ReadOperation {
  return readOperation(access, {
    ...read,
    parameters: { ...read.parameters, header: Conditions },
    success: { status: 200, description: 'The answer', json: answer },
    others: { 304: { description: 'If-None-Match has the ETag of this answer', headers: etag } },
    refusals: [...ofReads, ...(read.refusals ?? [])],
  })
}

/** Pages of any origin may read the scope. */
export function readGroup(...operations: readonly ReadOperation[]): OperationGroup<ReadOperation> {
  return { operations, prepare: addCorsHeaders }
}

/** Adds a header with the seconds that the replica for reads lags behind another one. */
export function withReplicaHeader(
  group: OperationGroup<ReadOperation>,
  behindSeconds: (() => number) | undefined,
): OperationGroup<ReadOperation> {
  if (behindSeconds === undefined) return group
  return {
    ...group,
    prepare(scope) {
      group.prepare?.(scope)
      scope.addHook('onSend', (_request, reply, payload, done) => {
        if (reply.statusCode < 400) reply.header('replica-behind-seconds', behindSeconds().toFixed(1))
        done(null, payload)
      })
    },
  }
}

function boundArguments({ originalUrl }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (hasTooManyArguments(originalUrl)) refuse(reply, 'TOO_MANY_PARAMETERS')
  else done()
}

const etag = { ETag: { description: 'Of this answer', schema: { type: 'string' } } }
const Conditions = z.object({ 'If-None-Match': z.string().optional().meta({ description: 'ETags, or *' }) })

export const DevicePath = z.object({ device: z.string().meta({ description: 'The name of a device' }) })

/** Refusals of readers and of unknown parameters. With open reads, some do not occur. */
export const ofReaders: readonly LoggerErrorCode[] = [
  'UNAUTHORIZED',
  'FORBIDDEN',
  'DEVICE_MISMATCH',
  'EMAIL_UNVERIFIED',
  'TOO_MANY_ATTEMPTS',
  'PARAMETER_INVALID',
]

export const ofReads: readonly LoggerErrorCode[] = [
  ...ofReaders,
  'TOO_MANY_PARAMETERS',
  'DATABASE_AWAY',
  'QUEUE_FULL',
  'CLOSING',
  'SENDING_TOO_MUCH',
]

/** Pages add this parameter to bypass caches. */
const cacheBuster = '_'
/** A longer name is compared and shown by its beginning. */
const nameLengthMax = 40

/** Names of parameters in other services. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  from: ['start'],
  since: ['start'],
  begin: ['start'],
  to: ['end'],
  until: ['end'],
  till: ['end'],
  stop: ['end'],
}

/** Names the first unknown parameter; undefined if all are known. */
export function unknownParameter(query: object, known: readonly string[]): string | undefined {
  const unknown = Object.keys(query).find(name => name !== cacheBuster && !known.includes(name))
  if (unknown === undefined) return undefined
  const name = unknown.slice(0, nameLengthMax)
  const distances = known.map(each => editDistance(name, each))
  const others = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined
  const nearest = others?.find(each => known.includes(each)) ?? known[distances.indexOf(Math.min(...distances))]
  return nearest === undefined ? `unknown parameter ${name}` : `unknown parameter ${name}; did you mean ${nearest}?`
}
