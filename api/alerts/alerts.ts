/** Serves alerts: lists them, reads one with its history, and acknowledges it. */

import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Alert, AlertDetails, type AlertRow, alertStates, FiringGroups } from '../../alerts/core/alert.ts'
import { severities } from '../../alerts/core/rule.ts'
import type { AlertList, AlertQuery } from '../../alerts/store/alerts.ts'
import { TagKey, TagMatch, tagsMax } from '../../auth/devices/tag.ts'
import { type AdminOperation, operation } from '../admin/operation.ts'
import { recordOperations } from '../admin/record-operations.ts'
import { recordId } from '../admin/request-fields.ts'
import { isKnownTo } from '../http/send-body.ts'
import { bigId, byBigId, deviceName, nextOf, ownerIn, pageLimit, sendRefusal } from './guard-alerts.ts'

export interface AlertOptions {
  alerts: { alerts: AlertList }
  /** Number of a device by its name; undefined if it does not exist. */
  numberOf: (name: string) => number | undefined
  timeZone: string
}

/** Parses a list of words with commas. */
function someOf<const Word extends string>(words: readonly Word[]) {
  const error = `must be one of ${words.join(', ')}, or several with commas`
  const lengthMax = words.join().length
  const word = `(?:${words.join('|')})`
  return z
    .string(error)
    .max(lengthMax, error)
    .transform(text => text.split(','))
    .pipe(z.array(z.enum(words, error)))
    .optional()
    .meta({
      type: 'string',
      maxLength: lengthMax,
      pattern: `^${word}(?:,${word})*$`,
      description: `Of ${words.join(', ')}`,
    })
}

/** A single value arrives as a text. */
const tags = z
  .preprocess(given => (typeof given === 'string' ? [given] : given), z.array(TagMatch).max(tagsMax))
  .optional()
  .meta({ description: 'Of devices with this tag; `key:*` stands for any value. Several tags must all match.' })

const GroupsQuery = z.strictObject({
  key: TagKey.meta({ description: 'Groups are by the tags of this key' }),
  tag: tags,
})

const AlertsQuery = z.strictObject({
  state: someOf(alertStates),
  severity: someOf(severities),
  device: deviceName.optional().meta({ description: 'The name of a device' }),
  tag: tags,
  rule: recordId.optional().meta({ description: 'The id of a rule' }),
  since: z.iso
    .datetime({ offset: true })
    .transform(text => Date.parse(text))
    .optional()
    .meta({ description: 'Without those that were resolved before: ISO 8601 with a zone' }),
  limit: pageLimit,
  after: bigId.optional().meta({ description: '`next` of the page before' }),
})

const ShownAlert = Alert.meta({ id: 'Alert' })
export const AlertPage = z
  .object({
    alerts: z.array(ShownAlert),
    next: z.string().nullable(),
    time_zone: z.string().meta({ description: 'Time zone of the service, for weekly windows of silences' }),
  })
  .meta({ id: 'AlertPage' })

export function alertOperations(options: AlertOptions): AdminOperation[] {
  return [listOperation(options), groupsOperation(options.alerts.alerts), ...ofOne(options.alerts.alerts)]
}

function listOperation({ alerts: { alerts }, numberOf, timeZone }: AlertOptions): AdminOperation {
  return operation({
    method: 'GET',
    path: '/',
    name: 'list_alerts',
    summary: 'Alerts, newest first',
    parameters: { query: AlertsQuery },
    success: { status: 200, description: 'A page of them', json: AlertPage, headers: etagHeader },
    others: { 304: { description: 'Unchanged' } },
    async handle(asked, reply) {
      const { device, limit } = asked.query
      const number = device === undefined ? undefined : numberOf(device)
      const isNone = device !== undefined && number === undefined
      const rows = isNone ? [] : await alerts.page(ownerIn(asked), queryOf(asked.query, number))
      const answer: z.infer<typeof AlertPage> = {
        alerts: rows.map(shown),
        next: nextOf(rows, limit),
        time_zone: timeZone,
      }
      return sendTagged(asked.request, reply, answer)
    },
  })
}

function groupsOperation(alerts: AlertList): AdminOperation {
  return operation({
    method: 'GET',
    path: '/groups',
    name: 'list_firing_groups',
    summary: 'How many devices alerts fire on, by their tags of a key',
    parameters: { query: GroupsQuery },
    success: {
      status: 200,
      description: 'The tags, the most devices first',
      json: FiringGroups.meta({ id: 'FiringGroups' }),
      headers: etagHeader,
    },
    others: { 304: { description: 'Unchanged' } },
    async handle(asked, reply) {
      const { key, tag = [] } = asked.query
      return sendTagged(asked.request, reply, await alerts.firing(ownerIn(asked), key, tag))
    },
  })
}

function queryOf(query: z.infer<typeof AlertsQuery>, device: number | undefined): AlertQuery {
  const { state, severity, tag, rule, since, limit, after } = query
  return {
    limit,
    ...(state === undefined ? {} : { states: state }),
    ...(severity === undefined ? {} : { severities: severity }),
    ...(device === undefined ? {} : { device }),
    ...(tag === undefined ? {} : { tag }),
    ...(rule === undefined ? {} : { rule }),
    ...(since === undefined ? {} : { sinceMs: since }),
    ...(after === undefined ? {} : { after }),
  }
}

function ofOne(alerts: AlertList): AdminOperation[] {
  const { one, action } = recordOperations({
    ...byBigId,
    prefix: '/api/alerts',
    unknown: 'ALERT_UNKNOWN',
    refuse: sendRefusal,
  })
  return [
    one({
      name: 'get_alert',
      summary: 'An alert with its history',
      answer: 'The alert',
      json: AlertDetails.meta({ id: 'AlertDetails' }),
      read: async asked => AlertDetails.optional().parse(await alerts.get(ownerIn(asked), asked.path.id)),
    }),
    action({
      below: '/acknowledge',
      name: 'acknowledge_alert',
      summary: 'Acknowledge an alert',
      description: 'Stops repeated notifications. Idempotent.',
      answer: 'The alert',
      json: ShownAlert,
      refusals: ['ALERT_RESOLVED'],
      run: asked => alerts.acknowledge(ownerIn(asked), asked.path.id, asked.actor),
      shown,
    }),
  ]
}

/** Leaves out the owner and the number of the device, which are internal. */
function shown(alert: AlertRow): Alert {
  return Alert.parse(alert)
}

const etagHeader = { ETag: { schema: { type: 'string' }, description: 'Weak tag of the content' } }

/** A client with the same version gets 304. */
function sendTagged(request: FastifyRequest, reply: FastifyReply, answer: object): FastifyReply {
  const body = JSON.stringify(answer)
  const etag = `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  reply.header('etag', etag).header('cache-control', 'private, no-cache')
  if (isKnownTo(request, etag)) return reply.code(304).send()
  return reply.header('content-type', 'application/json; charset=utf-8').send(body)
}
