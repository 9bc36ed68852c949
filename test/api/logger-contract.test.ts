/** What the contract says of requests to the logger is what the checks do, some of which are written out by hand. */

import fc from 'fast-check'
import t from 'tap'
import type { z } from 'zod'
import { parseDate } from '../../analytics/time/calendar.ts'
import { createOpenApi, type Json, type Parameter } from '../../api/docs/contract.ts'
import { publishOperations } from '../../api/docs/published-operations.ts'
import { loggerErrors } from '../../api/http/status-errors.ts'
import type { LoggerOperation } from '../../api/http/status-operations.ts'
import {
  CompareParameters,
  DailyParameters,
  DetailParameters,
  StatsParameters,
} from '../../api/read/analysis-parameters.ts'
import { eventsSubject, subscriptionIn } from '../../api/read/events/event-parameters.ts'
import { FleetQuery } from '../../api/read/fleet/fleet-parameters.ts'
import { readHours } from '../../api/read/latest-parameters.ts'
import { privateReads } from '../../api/read/read-access.ts'
import type { Subject } from '../../api/read/read-subjects.ts'
import { everybody } from '../../api/read/readers.ts'
import { createReadingCheck, defaultRanges } from '../../ingest/reading.ts'
import { createContractChecker } from '../support/contract.ts'
import { openReadsOf } from '../support/open-reads.ts'
import { publishedLogger } from '../support/published.ts'

const logger = publishedLogger(openReadsOf([]))
const document = createOpenApi([publishOperations(logger)])
const { operation, fault } = createContractChecker(document)
const json = 'application/json'

const nowMs = Date.UTC(2026, 5, 1)
const check = createReadingCheck({ collectsFurther: true })

t.test('the contract takes the readings that the check takes, and no others', t => {
  const { content } = operation('PUT', '/api/log').requestBody ?? {}
  const { min, max } = defaultRanges.temperature
  const odd = [null, undefined, '21', true, [], {}, min, max, min - 0.001, max + 0.001, 0, 103, 103.5, -1, 1100, 2000]
  const valueAround = (usual: number) =>
    fc.oneof(
      { weight: 6, arbitrary: fc.double({ min: usual - 1, max: usual + 1, noNaN: true }) },
      fc.constantFrom(...odd),
    )
  const timestamp = fc.constantFrom(
    undefined,
    null,
    nowMs,
    nowMs - 1.5,
    '2026-05-31T23:00:00Z',
    '2026-05-31 23:00+02',
    '2026-05-31T23:00:00,5+0200',
    '2026-05-31T23:00:00',
    '31.05.2026',
    '',
    true,
    {},
  )
  const usual = {
    temperature: 20,
    humidity: 50,
    pressure: 1000,
    'battery voltage': 3,
    battery_percentage: 50,
    co2: 400,
  }
  const values = Object.entries(usual).map(([name, value]) => [name, valueAround(value)] as const)
  const fields: Record<string, fc.Arbitrary<unknown>> = { ...Object.fromEntries(values), timestamp }
  const reading = fc.record(fields, { requiredKeys: ['temperature', 'pressure'] })
  let accepted = 0
  fc.assert(
    fc.property(reading, sentFields => {
      // As it comes from JSON, where nothing is undefined.
      const sent = JSON.parse(JSON.stringify({ device: 'porch', ...sentFields })) as Json
      const { ok } = check(sent, nowMs)
      if (ok) accepted++
      return ok === (fault(content, json, sent) === undefined)
    }),
    { numRuns: 3_000 },
  )
  t.ok(accepted > 20, 'some are taken')
  for (const device of [undefined, null, 1]) {
    t.ok(fault(content, json, { device, temperature: 1, humidity: 2, pressure: 1000 }), `device ${device}`)
  }
  t.end()
})

/** Whether a parameter takes a text, as a client that follows the contract would send it. */
function takes({ schema }: Parameter, text: string): boolean {
  const isWhole = schema['type'] === 'integer'
  if (isWhole && !/^(?:0|-?[1-9]\d{0,8})$/.test(text)) return false
  const content = { [json]: { schema } }
  return fault(content, json, isWhole ? Number(text) : text) === undefined
}

const texts = fc.oneof(
  fc.integer({ min: -10, max: 25_000 }).map(String),
  fc.constantFrom(
    '',
    '0',
    '1',
    '4',
    '3',
    '366',
    '367',
    '60',
    '61',
    '20000',
    '20001',
    '7d',
    '1w',
    '1y',
    '2d',
    'x',
    '007',
    '1.0',
    '1e2',
    'late',
    'late,never',
    'late,',
    ',late',
    'late,,never',
    'late never',
    'LATE',
    'state',
    'name',
    '1000',
    '1001',
    `${'late,'.repeat(19)}late`,
    `${'late,'.repeat(19)}silent`,
    // Characters of two units.
    ...[127, 128, 129, 300, 301].flatMap(length => ['a'.repeat(length), '🌡'.repeat(length)]),
  ),
)

t.test('the parameters of analyses and of the fleet are those of their checks', t => {
  const analyses = {
    '/api/compare_data': CompareParameters,
    '/api/detail_data/{device}': DetailParameters,
    '/api/stats_data/{device}': StatsParameters,
    '/api/daily_summary/{device}': DailyParameters,
    '/api/fleet': FleetQuery,
  }
  let compared = 0
  for (const [path, shape] of Object.entries(analyses)) {
    const { parameters = [] } = operation('GET', path)
    for (const parameter of parameters.filter(({ in: place }) => place === 'query')) {
      const field = (shape.shape as Record<string, { safeParse(value: unknown): { success: boolean } }>)[parameter.name]
      t.equal(field?.safeParse(undefined).success, !parameter.required, `${path} ${parameter.name}`)
      fc.assert(fc.property(texts, text => field?.safeParse(text).success === takes(parameter, text)))
      compared++
    }
  }
  t.equal(compared, 28)
  t.end()
})

t.test('the tags by which the fleet is filtered are those of their check', async t => {
  const tag = (operation('GET', '/api/fleet').parameters ?? []).find(({ name }) => name === 'tag')
  const lists = [
    ...['site:berlin', 'room:*', 'a:b:*', 'site', 'site:', '*:*', 'Site:a', 'a:b,c', 'a: b', ''].map(one => [one]),
    ...[16, 17].map(length => Array.from({ length }, (_, index) => `k${index}:v`)),
    [],
  ]
  const content = { [json]: { schema: tag?.schema ?? {} } }
  for (const list of lists) {
    const isTaken = FleetQuery.shape.tag.safeParse(list).success
    t.equal(isTaken, fault(content, json, list) === undefined, list.join())
  }
})

t.test('the parameters of events are those of their check', t => {
  const reader = everybody({
    get: () => ({ number: 0 }) as never,
    all: () => [],
    active: () => [],
    tagged: () => ({ all: [], active: [] }),
  })
  const isTaken = (query: object) => {
    const resolved = eventsSubject.resolve({ query } as never, reader)
    return resolved.ok && typeof subscriptionIn(query, resolved.about, () => undefined) === 'object'
  }
  const { parameters = [] } = operation('GET', '/api/events')
  const name = fc.constantFrom('porch', 'attic', '', '0')
  const values: Record<string, fc.Arbitrary<string | string[]>> = {
    device: fc.oneof(
      fc.array(name, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(499, 500, 501).map(length => Array.from({ length }, () => 'porch')),
    ),
    state: fc.oneof(fc.constantFrom('0', '1', '2', '', '01'), fc.array(fc.constantFrom('0', '1'), { minLength: 2 })),
  }
  const published = parameters.filter(({ in: place }) => place === 'query')
  t.strictSame(
    published.map(({ name, required }) => [name, required]),
    Object.keys(values).map(name => [name, false]),
  )
  for (const { name, schema } of published) {
    const content = { [json]: { schema } }
    fc.assert(
      fc.property(values[name] as fc.Arbitrary<string | string[]>, value => {
        return isTaken({ [name]: value }) === (fault(content, json, value) === undefined)
      }),
    )
  }
  t.end()
})

t.test('hours and days in paths are those of their checks', t => {
  const parameterOf = (path: string, wanted: string) => {
    const found = operation('GET', path).parameters?.find(({ name }) => name === wanted)
    if (found === undefined) throw new Error(`${path} has no ${wanted}`)
    return found
  }
  const hour = parameterOf('/api/latest/all/{hour}', 'hour')
  fc.assert(fc.property(texts, text => (readHours(text) !== undefined) === takes(hour, text)))
  const date = parameterOf('/api/data/day/{device}/{date}', 'date')
  const day = fc.tuple(
    fc.integer({ min: 1990, max: 2040 }),
    fc.integer({ min: 0, max: 13 }),
    fc.integer({ min: 0, max: 32 }),
  )
  const dates = fc.oneof(
    day.map(parts => parts.map(part => String(part).padStart(2, '0')).join('-')),
    fc.constantFrom('2026-02-29', '2024-02-29', '2026-2-3', '20260203', '2026-02-03T00:00Z', ''),
  )
  fc.assert(
    fc.property(dates, text => (parseDate(text) !== undefined) === takes(date, text)),
    { numRuns: 1_000 },
  )
  t.end()
})

t.test('each refusal of the logger stands in the contract of an operation', t => {
  const told = Object.values(document.paths).flatMap(methods =>
    Object.values(methods).flatMap(({ responses }) => Object.values(responses).map(({ description }) => description)),
  )
  // Answers of the server to paths and connections, whatever the operation; and of a client that has left.
  const others = ['BAD_REQUEST', 'NOT_FOUND', 'METHOD_NOT_ALLOWED', 'URI_TOO_LONG', 'HEADERS_TOO_LARGE', 'INTERNAL']
  const missing = Object.entries(loggerErrors).filter(
    ([code, { text }]) =>
      ![...others, 'NOT_IMPLEMENTED', 'CANCELLED'].includes(code) &&
      !told.some(description => description.includes(text)),
  )
  t.strictSame(missing, [])
  t.end()
})

t.test('every read says what it is about, and has the parameters of its subject', t => {
  const reads = logger.operations.flatMap(operation => (operation.method === 'GET' ? [operation] : []))
  t.ok(reads.length >= 13)
  for (const { path, subject, parameters } of reads) {
    const { of, parameters: named } = subject as Subject<unknown>
    const query = Object.keys((parameters?.query as z.ZodObject | undefined)?.shape ?? {})
    t.strictSame(query.slice(0, named.length), named, path)
    t.equal(of === 'device', /:(device|name)/.test(path), path)
  }
  const [read] = reads
  if (read === undefined) throw new Error('there are reads')
  // @ts-expect-error A read that is about nothing cannot be declared.
  const about: LoggerOperation = { ...read, subject: undefined }
  t.ok(about)
  t.end()
})

t.test('with private reads, each read of the contract asks for a credential', async t => {
  const { paths } = createOpenApi([publishOperations(publishedLogger(privateReads({} as never)))])
  const gets = Object.values(paths).flatMap(({ get }) => get ?? [])
  t.ok(gets.length >= 13)
  t.ok(gets.every(({ security = [] }) => security.length > 3))
  t.ok(Object.values(document.paths).every(({ get }) => get === undefined || get.security?.length === 0))
})
