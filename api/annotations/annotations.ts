/** Serves annotations that a principal may change, and their changes. `api/read/` lists them by device. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Annotation, AnnotationChange, bounds, NewAnnotation, orderMessage } from '../../auth/annotations/annotation.ts'
import {
  type AnnotationRefusal,
  type Annotations,
  type Annotator,
  type Author,
  annotatorOf,
  type MayAnnotate,
} from '../../auth/annotations/annotations.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { bug } from '../../store/limits/bug.ts'
import { type GuardOptions, requesterOf } from '../admin/guard.ts'
import type { AdminOperation, OperationInput } from '../admin/operation.ts'
import { sendProblem } from '../admin/problem.ts'
import { problemFamily } from '../admin/problem-family.ts'
import { recordOperations } from '../admin/record-operations.ts'
import { recordId, rowCount } from '../admin/request-fields.ts'
import { addJsonBody } from '../http/request-body.ts'
import type { PublishedFamily, Scope } from '../http/route-family.ts'

export interface AnnotationsApiOptions extends GuardOptions {
  annotations: Annotations
  devices: Pick<Devices, 'get' | 'byNumber' | 'all' | 'tagged'>
}

const prefix = '/api/annotations'

const tag = {
  name: 'annotations',
  description:
    'For people, of their own devices, and for administrators, of all: a session, an API key with the scope ingest, or the ' +
    'local admin token.',
}

export function annotationsFamily(options: AnnotationsApiOptions): PublishedFamily<AdminOperation> {
  const groups = [{ operations: annotationOperations(options), prepare: addJsonBody }]
  return problemFamily({ ...options, permission: 'annotations', prefix, tag, groups, prepare: refuseOthers })
}

/** Runs behind the guard of the family. */
function refuseOthers(scope: Scope): void {
  scope.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (annotatorOf(requesterOf(request)) !== undefined) return undefined
    const detail = 'annotations need an e-mail address that is verified'
    return await sendProblem(reply.header('connection', 'close'), 'FORBIDDEN', { detail })
  })
}

const json = Annotation.meta({ id: 'Annotation' })
export const AnnotationPage = z
  .object({ annotations: z.array(json), next: z.int().nullable() })
  .meta({ id: 'AnnotationPage' })
export type AnnotationPage = z.infer<typeof AnnotationPage>

const ListQuery = z.strictObject({
  device: z.string().min(1).max(512).optional().meta({ description: 'The name of a device' }),
  limit: rowCount(1000).prefault('100'),
  after: recordId.optional().meta({ description: '`next` of the page before' }),
})

function annotationOperations({ annotations, devices }: AnnotationsApiOptions): AdminOperation[] {
  const { list, addition, change, removal } = recordOperations({
    prefix,
    list: '/',
    key: 'id',
    id: recordId,
    unknown: 'ANNOTATION_UNKNOWN',
    refuse: sendRefusal,
  })

  /** Numbers of the registry's present devices; undefined means all. */
  function numbersOf({ scope: { owner, tags }, isOfAll, may }: Annotator, name: string | undefined) {
    if (name !== undefined) {
      const device = devices.get(name)
      return device !== undefined && may(device) ? [device.number] : []
    }
    if (isOfAll) return undefined
    const own = tags === undefined ? devices.all(owner) : devices.tagged(tags, owner).all
    return own.map(({ number }) => number)
  }

  function mayChange({ isOfAll, may }: Annotator): MayAnnotate {
    return number => {
      if (number === null) return isOfAll
      const device = devices.byNumber(number)
      return device !== undefined && may(device)
    }
  }

  return [
    list({
      name: 'list_annotations',
      summary: 'The annotations that you may change, the newest first',
      query: ListQuery,
      answer: 'A page of them',
      json: AnnotationPage,
      async read(asked) {
        const { device, limit, after } = asked.query
        const rows = await annotations.page(numbersOf(annotatorIn(asked), device), { limit, after })
        return { annotations: rows, next: rows.length < limit ? null : (rows.at(-1)?.id ?? null) }
      },
    }),
    addition({
      name: 'add_annotation',
      summary: 'Write an annotation',
      description: 'Readers of the device see it, also on charts.',
      body: NewAnnotation.meta({ id: 'NewAnnotation' }),
      answer: 'The annotation',
      json,
      refusals: ['DEVICE_UNKNOWN', 'TOO_MANY_ANNOTATIONS'],
      async run(asked) {
        const annotator = annotatorIn(asked)
        const { body } = asked
        const device = body.device === null ? null : devices.get(body.device)
        const isAllowed = device === null ? annotator.isOfAll : device !== undefined && annotator.may(device)
        if (device === undefined || !isAllowed) return { ok: false, code: 'DEVICE_UNKNOWN' }
        return await annotations.add(body, device?.number ?? null, authorIn(asked))
      },
    }),
    change({
      name: 'change_annotation',
      summary: 'Change an annotation',
      body: AnnotationChange.meta({ id: 'AnnotationChange' }),
      answer: 'The changed annotation',
      json,
      run: asked => annotations.change(asked.path.id, asked.body, mayChange(annotatorIn(asked)), authorIn(asked)),
    }),
    removal({
      name: 'remove_annotation',
      summary: 'Remove an annotation',
      answer: 'It is removed',
      run: asked => annotations.remove(asked.path.id, mayChange(annotatorIn(asked)), authorIn(asked)),
    }),
  ]
}

function annotatorIn({ principal }: Pick<OperationInput, 'principal'>): Annotator {
  const annotator = annotatorOf(principal)
  if (annotator === undefined) throw bug('the guard has let in a caller who may not annotate')
  return annotator
}

function authorIn(asked: Pick<OperationInput, 'principal' | 'actor'>): Author {
  return { account: annotatorIn(asked).account, actor: asked.actor }
}

function sendRefusal(reply: FastifyReply, { code }: AnnotationRefusal): FastifyReply {
  if (code === 'ORDER_INVALID') {
    return sendProblem(reply, 'BODY_INVALID', { errors: [{ path: 'to', message: orderMessage }] })
  }
  return sendProblem(reply, code, { detail: details[code] })
}

const details: Partial<Record<AnnotationRefusal['code'], string>> = {
  DEVICE_UNKNOWN: 'there is no such device that you may annotate; all devices are annotated by administrators',
  TOO_MANY_ANNOTATIONS: `a device has at most ${bounds.perDevice} annotations, and as many are about all devices`,
}
