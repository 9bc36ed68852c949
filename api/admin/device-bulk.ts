/** `POST /device-changes`: applies one change to many devices, each like a single request. */

import { z } from 'zod'
import type { Refusal } from '../../auth/devices/commits.ts'
import type { Rotated } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { createTagMatcher, Tag, TagMatch, Tags } from '../../auth/devices/tag.ts'
import { composed } from '../../store/plain-text.ts'
import { disconnectSignalOf } from '../http/streamed-response.ts'
import { bulkDevicesMax, DeviceBulkAnswer, notTried } from './answers.ts'
import { type AdminOperation, operation } from './operation.ts'
import { adminErrors } from './problem.ts'

/** Counts UTF-16 units and admits the names of older devices. */
const nameLengthMax = 512

const devices = z
  .array(z.string().min(1).max(nameLengthMax).overwrite(composed))
  .min(1)
  .max(bulkDevicesMax)
  .refine(names => new Set(names).size === names.length, 'must name each device once')

const DeviceBulk = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('suspend'), devices }),
  z.strictObject({ action: z.literal('resume'), devices }),
  z.strictObject({
    action: z.literal('rotate'),
    devices,
    now: z.boolean().default(false).meta({ description: 'True revokes the old passwords at once' }),
  }),
  z.strictObject({
    action: z.literal('tag'),
    devices,
    tag: Tag.meta({ description: 'Replaces a tag of the same key' }),
  }),
  z.strictObject({ action: z.literal('untag'), devices, tag: TagMatch }),
])
type DeviceBulk = z.infer<typeof DeviceBulk>

type Changing = Pick<Devices, 'get' | 'change' | 'rotate'>

export function deviceBulkOperation(registry: Changing): AdminOperation {
  return operation({
    method: 'POST',
    path: '/device-changes',
    name: 'admin_change_devices',
    summary: `One change of up to ${bulkDevicesMax} devices`,
    description:
      'Each change is made and audited separately: some may succeed and others fail. Without PostgreSQL, and after the client has disconnected, no further change begins.',
    body: { json: DeviceBulk.meta({ id: 'AdminDeviceBulk' }) },
    success: {
      status: 200,
      description: 'Changed devices, and the others with a reason',
      json: DeviceBulkAnswer.meta({ id: 'AdminDeviceBulkAnswer' }),
    },
    async handle({ body, actor }, reply) {
      return reply.send(await changeAll(registry, body, actor, disconnectSignalOf(reply)))
    },
  })
}

/** The next devices would wait for PostgreSQL, too. */
const ending = new Set<Refusal['code']>(['DATABASE_AWAY', 'OUTCOME_UNKNOWN', 'TOO_MANY_CHANGES'])

async function changeAll(
  registry: Changing,
  bulk: DeviceBulk,
  actor: string,
  client: AbortSignal,
): Promise<DeviceBulkAnswer> {
  const answer: DeviceBulkAnswer = { done: 0, failed: [], issued: [] }
  let isOver = false
  for (const device of bulk.devices) {
    isOver ||= client.aborted
    const fault = isOver ? notTried : await changeOne(registry, bulk, device, actor, answer.issued)
    if (fault === undefined) answer.done++
    else if (typeof fault === 'string') answer.failed.push({ device, reason: fault })
    else {
      answer.failed.push({ device, reason: adminErrors[fault.code].text })
      isOver = ending.has(fault.code)
    }
  }
  return answer
}

/** Returns the reason for a refused change. */
async function changeOne(
  registry: Changing,
  bulk: DeviceBulk,
  name: string,
  actor: string,
  issued: Rotated[],
): Promise<Refusal | string | undefined> {
  if (bulk.action === 'rotate') {
    const rotated = await registry.rotate(name, bulk.now, actor)
    if (!rotated.ok) return rotated
    issued.push(rotated.value)
    return undefined
  }
  const change = bulk.action === 'tag' || bulk.action === 'untag' ? tagsAfter(registry, bulk, name) : switchOf(bulk)
  if (typeof change === 'string') return change
  const changed = await registry.change(name, change, actor)
  return changed.ok ? undefined : changed
}

function switchOf({ action }: { action: 'suspend' | 'resume' }) {
  return { log_switch: action === 'resume' }
}

/** Returns the reason if a device cannot have the tag. */
function tagsAfter(
  registry: Changing,
  { action, tag }: { action: 'tag' | 'untag'; tag: string },
  name: string,
): { tags: string[] } | string {
  const key = tag.slice(0, tag.indexOf(':') + 1)
  const isRemoved = createTagMatcher([action === 'tag' ? `${key}*` : tag])
  const others = (registry.get(name)?.tags ?? []).filter(one => !isRemoved({ tags: [one] }))
  const tags = Tags.safeParse(action === 'tag' ? [...others, tag] : others)
  return tags.success ? { tags: tags.data } : 'it has as many tags as a device may have'
}
