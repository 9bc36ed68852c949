/** Serves the registry of metrics: lists, reads, adds, changes and removes metrics, and lists the catalogue. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { MetricRefusal } from '../../auth/metrics/metric-changes.ts'
import { MetricDetails, MetricPage, metricDetails } from '../../auth/metrics/metric-list.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import { catalogue } from '../../store/metrics/catalogue.ts'
import { MetricChange, metricsMax, NewMetric } from '../../store/metrics/metric.ts'
import { signOf, units } from '../../store/metrics/units.ts'
import { MetricCatalogue } from './answers.ts'
import { type AdminOperation, operation } from './operation.ts'
import { type Issue, requireSettled, sendProblem } from './problem.ts'
import { recordOperations } from './record-operations.ts'
import { searchText, wholeNumber } from './request-fields.ts'

const Details = MetricDetails.meta({ id: 'AdminMetric' })

const ListQuery = z.strictObject({
  search: searchText,
  after: wholeNumber(0, Number.MAX_SAFE_INTEGER, 'must be `next` of the page before')
    .optional()
    .meta({ description: '`next` of the page before' }),
})

const { list, one, addition, change, removal } = recordOperations({
  prefix: '/api/admin',
  list: '/metrics',
  key: 'name',
  id: z.string().meta({ description: 'The name of a metric' }),
  unknown: 'METRIC_UNKNOWN',
  refuse: sendRefusal,
})

export function metricOperations(metrics: Metrics): AdminOperation[] {
  return [...reads(metrics), ...changes(metrics), catalogueOperation()]
}

function reads(metrics: Metrics): AdminOperation[] {
  return [
    list({
      name: 'admin_list_metrics',
      summary: 'The registry of metrics, by position',
      query: ListQuery,
      answer: 'A page of it',
      json: MetricPage.meta({ id: 'AdminMetricPage' }),
      async read({ query }) {
        requireSettled(await metrics.reconcile())
        return metrics.list(query)
      },
    }),
    one({
      name: 'admin_get_metric',
      summary: 'One metric',
      answer: 'The metric',
      json: Details,
      async read({ path: { name } }) {
        requireSettled(await metrics.reconcile())
        const metric = metrics.get(name)
        return metric && metricDetails(metric)
      },
    }),
  ]
}

function changes(metrics: Metrics): AdminOperation[] {
  return [
    addition({
      name: 'admin_add_metric',
      summary: 'Add a metric',
      description: 'Fields that are left out come from the catalogue, if it knows the name.',
      body: NewMetric.meta({ id: 'AdminNewMetric' }),
      answer: 'The metric',
      json: Details,
      refusals: ['NAME_TAKEN', 'RANGE_EMPTY', 'REGISTRY_FULL', 'TOO_BUSY'],
      run: ({ body, actor }) => metrics.add(body, actor),
      shown: metricDetails,
    }),
    change({
      name: 'admin_change_metric',
      summary: 'Change a metric',
      description: 'Stored values are not converted: from then on they mean the new unit, and are of the new kind.',
      body: MetricChange.meta({ id: 'AdminMetricChange' }),
      answer: 'The changed metric',
      json: Details,
      refusals: ['METRIC_BUILT_IN', 'RANGE_EMPTY', 'TOO_BUSY'],
      run: ({ path: { name }, body, actor }) => metrics.change(name, body, actor),
      shown: metricDetails,
    }),
    removal({
      name: 'admin_remove_metric',
      summary: 'Remove a metric',
      description: 'Refused while a device has or lists it.',
      answer: 'It is removed',
      refusals: ['METRIC_BUILT_IN', 'METRIC_IN_USE', 'TOO_BUSY'],
      run: ({ path: { name }, actor }) => metrics.remove(name, actor),
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
