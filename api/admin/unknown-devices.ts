/** `GET /unknown-devices`: lists devices that send and are not registered, from memory, latest first. */

import type { NodeState } from '../../auth/nodes/node-states.ts'
import type { Rejections } from '../../ingest/rejections/rejections.ts'
import { unknownDevicesMax } from '../../ingest/rejections/unknown-devices.ts'
import { type AdminOperation, operation } from './operation.ts'
import { UnknownDevicePage } from './rejection-answers.ts'
import { nodeOf } from './rejections.ts'

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
