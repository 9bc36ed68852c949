/** The registry of metrics by HTTP: a page of it, one metric, a new one, changes, removal, and the catalogue. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { MetricRefusal } from '../../auth/metrics/metric-changes.ts'
import { metricDetails } from '../../auth/metrics/metric-list.ts'
import { MetricDetails, MetricPage } from '../../auth/metrics/metric-page.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import { catalogue } from '../../metrics/catalogue.ts'
import { MetricChange, NewMetric } from '../../metrics/metric.ts'
import { metricsMax } from '../../metrics/metric-counts.ts'
import { signOf, units } from '../../metrics/units.ts'
import { sendUnsettled } from './devices.ts'
import { MetricCatalogue } from './metric-answers.ts'
import { type AdminOperation, operation } from './operation.ts'
import { type Issue, sendProblem } from './problem.ts'
import { searchText } from './query-fields.ts'

const Details = MetricDetails.meta({ id: 'AdminMetric' })
const path = z.object({ name: z.string().meta({ description: 'The name of a metric' }) })

const notAKey = 'must be `next` of the page before'
const ListQuery = z.strictObject({
  search: searchText,
  after: z
    .string()
    .regex(/^\d{1,16}$/, notAKey)
    .transform(Number)
    .refine(Number.isSafeInteger, notAKey)
    .optional()
    .meta({
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      pattern: undefined,
      description: '`next` of the page before',
    }),
})

export function metricOperations(metrics: Metrics): AdminOperation[] {
  return [...reads(metrics), ...changes(metrics), catalogueOperation()]
}

function reads(metrics: Metrics): AdminOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/metrics',
      name: 'admin_list_metrics',
      summary: 'The registry of metrics, by position',
      parameters: { query: ListQuery },
      success: { status: 200, description: 'A page of it', json: MetricPage.meta({ id: 'AdminMetricPage' }) },
      async handle({ query }, reply) {
        if (!(await metrics.reconcile())) return sendUnsettled(reply)
        return reply.send(metrics.list(query))
      },
    }),
    operation({
      method: 'GET',
      path: '/metrics/:name',
      name: 'admin_get_metric',
      summary: 'One metric',
      parameters: { path },
      success: { status: 200, description: 'The metric', json: Details },
      refusals: ['METRIC_UNKNOWN'],
      async handle({ path: { name } }, reply) {
        if (!(await metrics.reconcile())) return sendUnsettled(reply)
        const metric = metrics.get(name)
        return metric === undefined ? sendProblem(reply, 'METRIC_UNKNOWN') : reply.send(metricDetails(metric))
      },
    }),
  ]
}

function changes(metrics: Metrics): AdminOperation[] {
  return [
    operation({
      method: 'POST',
      path: '/metrics',
      name: 'admin_add_metric',
      summary: 'Add a metric',
      description: 'What is left out is as the catalogue has it, of a name that it knows.',
      body: { json: NewMetric.meta({ id: 'AdminNewMetric' }) },
      success: { status: 201, description: 'The metric', json: Details },
      refusals: ['NAME_TAKEN', 'RANGE_EMPTY', 'REGISTRY_FULL', 'TOO_BUSY', 'OUTCOME_UNKNOWN'],
      async handle({ body, actor }, reply) {
        const added = await metrics.add(body, actor)
        if (!added.ok) return sendRefusal(reply, added)
        const { value } = added
        return reply.code(201).header('location', `/api/admin/metrics/${value.name}`).send(metricDetails(value))
      },
    }),
    operation({
      method: 'PATCH',
      path: '/metrics/:name',
      name: 'admin_change_metric',
      summary: 'Change a metric',
      description: 'Stored values are not converted: from then on they mean the new unit, and are of the new kind.',
      parameters: { path },
      body: { json: MetricChange.meta({ id: 'AdminMetricChange' }) },
      success: { status: 200, description: 'The changed metric', json: Details },
      refusals: ['METRIC_UNKNOWN', 'METRIC_BUILT_IN', 'RANGE_EMPTY', 'TOO_BUSY', 'OUTCOME_UNKNOWN'],
      async handle({ path: { name }, body, actor }, reply) {
        const changed = await metrics.change(name, body, actor)
        return changed.ok ? reply.send(metricDetails(changed.value)) : sendRefusal(reply, changed)
      },
    }),
    operation({
      method: 'DELETE',
      path: '/metrics/:name',
      name: 'admin_remove_metric',
      summary: 'Remove a metric',
      description: 'Refused while a device has or lists it.',
      parameters: { path },
      success: { status: 204, description: 'It is removed' },
      refusals: ['METRIC_UNKNOWN', 'METRIC_BUILT_IN', 'METRIC_IN_USE', 'TOO_BUSY', 'OUTCOME_UNKNOWN'],
      async handle({ path: { name }, actor }, reply) {
        const removed = await metrics.remove(name, actor)
        return removed.ok ? reply.code(204).send() : sendRefusal(reply, removed)
      },
    }),
  ]
}

function catalogueOperation(): AdminOperation {
  const answer: MetricCatalogue = {
    metrics: catalogue.map(({ aliases, ...entry }) => ({
      ...entry,
      aliases: [...aliases],
      unit_sign: entry.unit === null ? null : signOf(entry.unit),
    })),
    units: units.map(({ code, sign, dimension, aliases }) => ({ code, sign, dimension, aliases: [...aliases] })),
  }
  return operation({
    method: 'GET',
    path: '/metrics/catalogue',
    name: 'admin_read_metric_catalogue',
    summary: 'Metrics that are set up by their names, and the units that are known',
    success: { status: 200, description: 'Both', json: MetricCatalogue.meta({ id: 'MetricCatalogue' }) },
    handle: (_asked, reply) => reply.send(answer),
  })
}

const details: Partial<Record<MetricRefusal['code'], string>> = {
  METRIC_IN_USE: 'a device has or lists it',
  REGISTRY_FULL: `there are as many metrics as there may be (${metricsMax})`,
}

function sendRefusal(reply: FastifyReply, refusal: MetricRefusal): FastifyReply {
  return sendProblem(reply, refusal.code, { detail: details[refusal.code], errors: issuesOf(refusal) })
}

function issuesOf(refusal: MetricRefusal): Issue[] | undefined {
  switch (refusal.code) {
    case 'NAME_TAKEN': {
      const { aliasOf } = refusal
      return [{ path: 'name', message: aliasOf === undefined ? 'is taken by another metric' : `is ${aliasOf}` }]
    }
    case 'METRIC_BUILT_IN':
      return refusal.fields.map(field => ({ path: field, message: 'stays as it is, since the metric is built in' }))
    case 'RANGE_EMPTY':
      return [{ path: 'min', message: 'must be less than max' }]
    default:
      return undefined
  }
}
