/** Lists rejected readings, and devices that send and are not registered, from memory. */

import { z } from 'zod'
import { type NodeState, shortNodeId } from '../../auth/nodes/node-states.ts'
import type { RejectionEntry } from '../../ingest/rejections/rejection.ts'
import { entriesMax } from '../../ingest/rejections/rejection-ring.ts'
import type { Rejections } from '../../ingest/rejections/rejections.ts'
import { unknownDevicesMax } from '../../ingest/rejections/unknown-devices.ts'
import { type Rejection, RejectionPage, rejectionWay, UnknownDevicePage } from './answers.ts'
import { type AdminOperation, operation } from './operation.ts'
import { sendProblem } from './problem.ts'
import { rowCount, wholeNumber } from './request-fields.ts'

const rowsPerPage = 100
const afterMax = 999_999_999_999_999
const deviceLengthMax = 256

const RejectionsQuery = z.strictObject({
  after: wholeNumber(0, afterMax, 'must be the id of a rejection')
    .optional()
    .meta({ description: '`next` of the page before' }),
  limit: rowCount(entriesMax).default(rowsPerPage),
  device: z.string().max(deviceLengthMax).optional().meta({ description: 'Only of this device or station.' }),
  way: rejectionWay.optional(),
  node: z
    .string()
    .regex(/^[0-9a-f]{8}$/, 'must be the id of a node')
    .optional()
    .meta({ description: '`node.id` of the page before, of several nodes: another one answers 409.' }),
})

/** `own` is the answering node if there are several. */
export function rejectionsOperation(
  rejections: Pick<Rejections, 'list' | 'status'>,
  own: (() => Pick<NodeState, 'id' | 'host'>) | undefined,
): AdminOperation {
  return operation({
    method: 'GET',
    path: '/rejections',
    name: 'admin_list_rejections',
    summary: 'Readings that were rejected, newest first',
    description:
      'Since the start of the service, on the node that answers. Rejections with the same protocol, sender, device and reason are one entry with a count.',
    parameters: { query: RejectionsQuery },
    success: { status: 200, description: 'A page of them', json: RejectionPage.meta({ id: 'RejectionPage' }) },
    refusals: ['NODE_OTHER'],
    async handle({ query: { after, limit, device, way, node } }, reply) {
      const answering = own && nodeOf(own())
      if (node !== undefined && node !== answering?.id) {
        const who = answering === undefined ? 'no node' : `node ${answering.id}`
        const detail = `${who} answers, which does not have the list of node ${node}: start at the first page, or ask that node`
        return sendProblem(reply, 'NODE_OTHER', { detail })
      }
      const { entries, hasMore } = rejections.list({ before: after, limit, device, way })
      const { sinceMs, rejected } = rejections.status()
      const since = new Date(sinceMs).toISOString()
      const next = hasMore ? (entries.at(-1)?.id ?? null) : null
      const of = answering === undefined ? {} : { node: answering }
      return reply.send({ ...of, since, rejected, rejections: entries.map(shown), next } satisfies RejectionPage)
    },
  })
}

export function nodeOf({ id, host }: Pick<NodeState, 'id' | 'host'>): RejectionPage['node'] {
  return { id: shortNodeId(id), host }
}

function shown({ id, way, device, sender, reason, count, firstMs, latestMs }: RejectionEntry): Rejection {
  const [at, first_at] = [latestMs, firstMs].map(ms => new Date(ms).toISOString()) as [string, string]
  return { id, at, first_at, way, device: device ?? null, sender, reason, count }
}

/** `own` is the answering node if there are several. */
export function unknownDevicesOperation(
  rejections: Pick<Rejections, 'unknownDevices' | 'status'>,
  isRegistered: (name: string) => boolean,
  own: (() => Pick<NodeState, 'id' | 'host'>) | undefined,
): AdminOperation {
  return operation({
    method: 'GET',
    path: '/unknown-devices',
    name: 'admin_list_unknown_devices',
    summary: 'Devices that send and are not registered, latest first',
    description: `Senders in formats of sensors since the start of the service, on the node that answers: the latest ${unknownDevicesMax} names. A device leaves the list when it is added.`,
    success: { status: 200, description: 'All of them', json: UnknownDevicePage.meta({ id: 'UnknownDevicePage' }) },
    handle(_asked, reply) {
      const devices = rejections.unknownDevices(isRegistered).map(({ firstMs, latestMs, ...device }) => {
        const [at, first_at] = [latestMs, firstMs].map(ms => new Date(ms).toISOString()) as [string, string]
        return { ...device, at, first_at }
      })
      const of = own === undefined ? {} : { node: nodeOf(own()) }
      const since = new Date(rejections.status().sinceMs).toISOString()
      return reply.send({ ...of, since, devices, next: null } satisfies UnknownDevicePage)
    },
  })
}
