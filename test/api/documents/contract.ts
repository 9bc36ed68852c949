/** The published contract accepts the same requests as the checks, at and beyond each limit. */

import fc from 'fast-check'
import t from 'tap'
import type { z } from 'zod'
import { NewRule } from '../../../alerts/core/rule.ts'
import { parseDate } from '../../../analytics/time/calendar.ts'
import { UserCreate, UserUpdate } from '../../../api/accounts/schemas.ts'
import { AccountChange, NewAccount } from '../../../api/admin/accounts.ts'
import { NewInvitation } from '../../../api/admin/invitations.ts'
import { NewAdminKey } from '../../../api/admin/keys.ts'
import { createOpenApi, type Json, type Parameter } from '../../../api/docs/contract.ts'
import { publishOperations } from '../../../api/docs/published-operations.ts'
import { type LoggerOperation, loggerErrors } from '../../../api/http/status-operations.ts'
import { eventsSubject, subscriptionIn } from '../../../api/read/events/subscription.ts'
import { FleetQuery } from '../../../api/read/fleet/fleet-parameters.ts'
import { privateReads } from '../../../api/read/read-access.ts'
import type { Subject } from '../../../api/read/read-subjects.ts'
import { everybody } from '../../../api/read/readers.ts'
import { readHours } from '../../../api/read/reads.ts'
import { DeviceChangeRequest, DeviceRequest, nameFault } from '../../../auth/devices/device.ts'
import { namePattern, tagPattern } from '../../../auth/devices/name-pattern.ts'
import { tagFault } from '../../../auth/devices/tag.ts'
import { StationRequest } from '../../../auth/stations/station.ts'
import { NewTenant } from '../../../auth/tenants/tenant.ts'
import { createReadingCheck, defaultRanges } from '../../../ingest/reading.ts'
import { analyses } from '../../../query/analyses/analyses.ts'
import { CompareParameters } from '../../../query/analyses/compare.ts'
import { readTimeText, timeTextForm } from '../../../store/time-text.ts'
import { createContractChecker } from '../../support/contract.ts'
import { openReadsOf } from '../../support/open-reads.ts'
import { published, publishedLogger } from '../../support/published.ts'
import { runs } from '../../support/runs.ts'

const { fault } = createContractChecker(published)

/** Each schema is compiled once. */
const references = new Map<string, { $ref: string }>()

/** True if the schema of this name accepts the value. */
function isPublished(name: string, value: unknown): boolean {
  const schema = references.get(name) ?? { $ref: `#/components/schemas/${name}` }
  references.set(name, schema)
  return fault({ 'application/json': { schema } }, 'application/json', value) === undefined
}

const word = (length: number) => 'é🌡'.repeat(length).match(/./gu)?.slice(0, length).join('') ?? ''
const texts = (max: number) => ['', 'a', word(max), word(max + 1), 'a\u0000', 'a\nb', 'a\u0085', 'a\u007f', 7, null]
const oddNames = ['.', '..', '...', ' a', 'a ', 'a  b', 'a:b', 'a/b', 'a+', '#', 'a\u00a0b', 'a\u200bb', '温室 1']
const names = [...texts(64), ...oddNames]
const tagsOf = (count: number) => Array.from({ length: count }, (_, index) => `k${index}:v`)
const tagLists = [
  ...texts(64).map(value => [`site:${value}`]),
  ...['a', ':b', 'A:b', '9:b', `${'k'.repeat(32)}:b`, `${'k'.repeat(33)}:b`, 'a:*', 'a:b:*', 'a:*b'].map(tag => [tag]),
  ...['a:b,c', 'a:b;c', 'a: b', 'a:b ', 'a:b  c', 'a:b c', 'a:b\u200b', 'a:#+/:'].map(tag => [tag]),
  ...[[], tagsOf(16), tagsOf(17), 'a:b', null],
]
const local =
  'a a@b a@b.c a@b.co a.b@c.de .a@c.de a.@c.de a..b@c.de ä@c.de a@ä.de a@-b.de a@b-.de a@b--c.de a@b..de a@.de'
const reserved = 'a@b.de. a@b.test a@b.TEST a@b.tests a@b.local a@b.c1 a@b.1c a@b.1 a@b.1-c a@b.1-1 a@b@c.de'
const tooLong = [`${'a'.repeat(64)}@b.de`, `a@${'b.'.repeat(127)}de`]
const emails = ['', 'a b@c.de', ...local.split(' '), ...reserved.split(' '), ...tooLong]
const passwords = ['a7Zk_9q', 'a7Zk_9qx', word(8), word(128), word(129)]

type Table = Record<string, { schema: z.ZodType; base: object; fields: Record<string, readonly unknown[]> }>

const table: Table = {
  AdminNewDevice: {
    schema: DeviceRequest,
    base: { name: 'porch', longitude: 13.4, latitude: 52.5 },
    fields: {
      name: names,
      location_short: texts(128),
      location_desc: texts(1024),
      owner: [...texts(254), 0, 1, 2 ** 31, 2 ** 31 - 1],
      altitude_m: [-501, -500, 10_000, 10_001, null, '1'],
      latitude: [-90.1, -90, 90, 90.1, null, '1'],
      longitude: [-180.1, -180, 180, 180.1, null],
      expected_interval_seconds: [0, 1, 1.5, 31_622_400, 31_622_401, null],
      tags: tagLists,
      unknown: [1],
    },
  },
  AdminDeviceChange: {
    schema: DeviceChangeRequest,
    base: {},
    fields: { name: names, log_switch: [true, 0], tags: tagLists, latitude: [1, null], unknown: [1] },
  },
  AdminNewStation: {
    schema: StationRequest,
    base: { sn: 'DEL-01', model: 'M1' },
    fields: {
      sn: ['', 'a', '-a', 'a/b', 'a'.repeat(64), 'a'.repeat(65)],
      model: texts(100),
      city: texts(200),
      location: texts(500),
      country: ['', 'D', 'de', 'DEU', 'D1', null],
      private: [true, 'true'],
      owner: texts(254),
      unknown: [1],
    },
  },
  NewAlertRule: {
    schema: NewRule,
    base: { name: 'warm', selector: { all: true }, condition: { kind: 'above', metric: 'temperature', value: 30 } },
    fields: {
      name: texts(64),
      for_seconds: [-1, 0, 1.5, 604_800, 604_801, '1'],
      severity: ['critical', 'page'],
      channels: [[], [1], [0], ...[16, 17].map(length => Array.from({ length }, (_, at) => at + 1))],
      selector: [{ all: false }, { devices: [] }, { devices: ['porch'] }, { tags: ['site:a', 'b:*'] }, { tags: ['a'] }],
      condition: [
        { kind: 'silent' },
        { kind: 'silent', after_seconds: 0 },
        { kind: 'below', metric: 'Temperature', value: 1 },
        { kind: 'change', metric: 'pressure', value: -3, window_seconds: 59 },
        { kind: 'completeness', share: 1.1 },
        { kind: 'hot' },
      ],
      group_by: ['site', 'Site', '', null],
      note: texts(1024),
      unknown: [1],
    },
  },
  AdminNewTenant: {
    schema: NewTenant,
    base: { slug: 'acme', name: 'Acme' },
    fields: {
      slug: ['', 'a', 'A', 'a-b', 'a--b', '-a', 'a'.repeat(40), 'a'.repeat(41)],
      name: texts(100),
      unknown: [1],
    },
  },
  AdminNewAccount: {
    schema: NewAccount,
    base: { email: 'ada@example.com' },
    fields: { email: emails, name: texts(100), password: passwords, role: ['user', 'nobody'], unknown: [1] },
  },
  AdminAccountChange: {
    schema: AccountChange,
    base: {},
    fields: { role: ['user', ''], email_verified: [true, false] },
  },
  AdminNewKey: {
    schema: NewAdminKey,
    base: { account: 1, name: 'logger' },
    fields: {
      name: texts(100),
      account: texts(254),
      expires_in_days: [0, 1, 1.5, null],
      scopes: [[], ['all']],
      tags: tagLists,
      unknown: [1],
    },
  },
  AdminNewInvitation: {
    schema: NewInvitation,
    base: { email: 'ada@example.com' },
    fields: { email: emails, unknown: [1] },
  },
  UserCreate: {
    schema: UserCreate,
    base: { email: 'ada@example.com', password: 'correct horse battery' },
    // A newer control character is accepted here, as by Pydantic.
    fields: {
      ...{ email: emails, password: passwords, token: ['', word(200), word(201)] },
      name: texts(100).filter(text => text !== 'a\u0085'),
    },
  },
  UserUpdate: {
    schema: UserUpdate,
    base: {},
    fields: {
      image: ['', 'https://', 'http://a.de/', 'https://a.de/b?c#d', 'https://a.0', 'https://a.de/\u0000', null],
    },
  },
}

for (const [name, { schema, base, fields }] of Object.entries(table)) {
  t.test(`${name}: the contract accepts the same bodies as the check`, async t => {
    t.equal(isPublished(name, base), schema.safeParse(base).success, 'the least')
    for (const [field, values] of Object.entries(fields)) {
      for (const value of values) {
        const body = { ...base, [field]: value }
        t.equal(isPublished(name, body), schema.safeParse(body).success, JSON.stringify({ [field]: value }))
      }
    }
  })
}

t.test('the contract rejects a change without a field', async t => {
  for (const name of ['AdminDeviceChange', 'AdminStationChange', 'AdminTenantChange', 'AdminAccountChange']) {
    t.notOk(isPublished(name, {}), name)
  }
})

t.test('the patterns of names and of tags match the same characters as the checks', async t => {
  const pattern = new RegExp(namePattern, 'u')
  const ofTags = new RegExp(tagPattern, 'u')
  const differing: string[] = []
  for (let codePoint = 0; codePoint <= 0x10_ff_ff; codePoint++) {
    if (codePoint >= 0xd800 && codePoint <= 0xdfff) continue
    const name = `a${String.fromCodePoint(codePoint)}b`
    const tag = `k:${name}`
    const isSame = pattern.test(name) === (nameFault(name) === undefined)
    if (!isSame || ofTags.test(tag) !== (tagFault(tag) === undefined)) differing.push(codePoint.toString(16))
  }
  t.strictSame(differing, [])
})

t.test('the published form of times is the parsed one', async t => {
  const form = new RegExp(timeTextForm)
  const days = '2024-02-29 2023-02-29 2024-04-31 2024-13-01 2024-00-10 1900-02-29 2000-02-29 24-01-01'.split(' ')
  const good = ['', 'T00:00', ' 23:59:59', 'T10:00:00.123456789', 't10:00z']
  const clocks = [...good, 'T24:00', 'T10:60', 'T10:00:60', 'T10:00:00.', 'T10']
  const zones = ['', 'Z', '+01:00', '-0130', '+05', '+24:00', '+01:60']
  for (const day of days) {
    for (const clock of clocks) {
      for (const zone of zones) {
        const text = `${day}${clock}${zone}`
        t.equal(form.test(text), readTimeText(text) !== undefined, text)
      }
    }
  }
})

const logger = publishedLogger(openReadsOf([]))
const document = createOpenApi([publishOperations(logger)])
const { operation, fault: loggerFault } = createContractChecker(document)
const json = 'application/json'

const nowMs = Date.UTC(2026, 5, 1)
const check = createReadingCheck({ collectsCustom: true })

t.test('the contract accepts the same readings as the check', t => {
  const { content } = operation('PUT', '/api/log').requestBody ?? {}
  const { min, max } = defaultRanges.temperature
  const odd = [null, undefined, '21', true, [], {}, min, max, min - 0.001, max + 0.001, 0, 103, 103.5, -1, 1100, 2000]
  const near = (usual: number) => fc.double({ min: usual - 1, max: usual + 1, noNaN: true })
  const valueAround = (usual: number) => fc.oneof({ weight: 6, arbitrary: near(usual) }, fc.constantFrom(...odd))
  const times = ['2026-05-31T23:00:00Z', '2026-05-31 23:00+02', '2026-05-31T23:00:00,5+0200', '2026-05-31T23:00:00', '']
  const timestamp = fc.constantFrom(undefined, null, nowMs, nowMs - 1.5, ...times, '31.05.2026', true, {})
  const battery = { 'battery voltage': 3, battery_percentage: 50 }
  const usual = { temperature: 20, humidity: 50, pressure: 1000, ...battery, co2: 400 }
  const values = Object.entries(usual).map(([name, value]) => [name, valueAround(value)] as const)
  const fields: Record<string, fc.Arbitrary<unknown>> = { ...Object.fromEntries(values), timestamp }
  const reading = fc.record(fields, { requiredKeys: ['temperature', 'pressure'] })
  let accepted = 0
  fc.assert(
    fc.property(reading, sentFields => {
      // A JSON body cannot contain undefined.
      const sent = JSON.parse(JSON.stringify({ device: 'porch', ...sentFields })) as Json
      const { ok } = check(sent, nowMs)
      if (ok) accepted++
      return ok === (loggerFault(content, json, sent) === undefined)
    }),
    { ...runs(500, 5_000), examples: [[{ temperature: null, pressure: null, co2: 399 }]] },
  )
  t.ok(accepted > 5, 'some are taken')
  for (const device of [undefined, null, 1]) {
    t.ok(loggerFault(content, json, { device, temperature: 1, humidity: 2, pressure: 1000 }), `device ${device}`)
  }
  t.end()
})

/** True if a parameter accepts a text that a client following the contract would send. */
function takes({ schema }: Parameter, text: string): boolean {
  const isWhole = schema['type'] === 'integer'
  if (isWhole && !/^(?:0|-?[1-9]\d{0,8})$/.test(text)) return false
  const content = { [json]: { schema } }
  return loggerFault(content, json, isWhole ? Number(text) : text) === undefined
}

const numberTexts = '0 1 4 3 366 367 60 61 20000 20001 7d 1w 1y 2d x 007 1.0 1e2 1000 1001'.split(' ')
const listTexts = ['late', 'late,never', 'late,', ',late', 'late,,never', 'late never', 'LATE', 'state', 'name', '']
const longLists = ['late', 'silent'].map(last => `${'late,'.repeat(19)}${last}`)
// The second character has two code units.
const longTexts = [127, 128, 129, 300, 301].flatMap(length => ['a'.repeat(length), '🌡'.repeat(length)])
const queryTexts = fc.oneof(
  fc.integer({ min: -10, max: 25_000 }).map(String),
  fc.constantFrom(...numberTexts, ...listTexts, ...longLists, ...longTexts),
)

t.test('the parameters of analyses and of the fleet match their checks', t => {
  const shapes = {
    '/api/compare_data': CompareParameters,
    '/api/detail_data/{device}': analyses.detail.parameters,
    '/api/stats_data/{device}': analyses.stats.parameters,
    '/api/daily_summary/{device}': analyses.daily.parameters,
    '/api/fleet': FleetQuery,
  }
  let compared = 0
  for (const [path, shape] of Object.entries(shapes)) {
    const { parameters = [] } = operation('GET', path)
    for (const parameter of parameters.filter(({ in: place }) => place === 'query')) {
      const field = (shape.shape as Record<string, { safeParse(value: unknown): { success: boolean } }>)[parameter.name]
      t.equal(field?.safeParse(undefined).success, !parameter.required, `${path} ${parameter.name}`)
      fc.assert(fc.property(queryTexts, text => field?.safeParse(text).success === takes(parameter, text)))
      compared++
    }
  }
  t.equal(compared, 28)
  t.end()
})

t.test('the tags that filter the fleet match their check', async t => {
  const tag = (operation('GET', '/api/fleet').parameters ?? []).find(({ name }) => name === 'tag')
  const tags = ['site:berlin', 'room:*', 'a:b:*', 'site', 'site:', '*:*', 'Site:a', 'a:b,c', 'a: b', '']
  const content = { [json]: { schema: tag?.schema ?? {} } }
  for (const list of [...tags.map(one => [one]), tagsOf(16), tagsOf(17), []]) {
    const isTaken = FleetQuery.shape.tag.safeParse(list).success
    t.equal(isTaken, loggerFault(content, json, list) === undefined, list.join())
  }
})

t.test('the parameters of events match their check', t => {
  const none = { all: () => [], active: () => [], tagged: () => ({ all: [], active: [] }) }
  const reader = everybody({ get: () => ({ number: 0 }) as never, ...none })
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
  const optional = published.filter(({ required }) => !required).map(({ name }) => name)
  t.strictSame([optional, published.length], [Object.keys(values), 2])
  for (const { name, schema } of published) {
    const content = { [json]: { schema } }
    fc.assert(
      fc.property(values[name] as fc.Arbitrary<string | string[]>, value => {
        return isTaken({ [name]: value }) === (loggerFault(content, json, value) === undefined)
      }),
    )
  }
  t.end()
})

t.test('hours and days in paths match their checks', t => {
  const parameterOf = (path: string, wanted: string) => {
    const found = operation('GET', path).parameters?.find(({ name }) => name === wanted)
    if (found === undefined) throw new Error(`${path} has no ${wanted}`)
    return found
  }
  const hour = parameterOf('/api/latest/all/{hour}', 'hour')
  fc.assert(fc.property(queryTexts, text => (readHours(text) !== undefined) === takes(hour, text)))
  const date = parameterOf('/api/data/day/{device}/{date}', 'date')
  const [year, month] = [fc.integer({ min: 1990, max: 2040 }), fc.nat({ max: 13 })]
  const day = fc.tuple(year, month, fc.nat({ max: 32 }))
  const dates = fc.oneof(
    day.map(parts => parts.map(part => String(part).padStart(2, '0')).join('-')),
    fc.constantFrom('2026-02-29', '2024-02-29', '2026-2-3', '20260203', '2026-02-03T00:00Z', ''),
  )
  fc.assert(
    fc.property(dates, text => (parseDate(text) !== undefined) === takes(date, text)),
    runs(300, 3_000),
  )
  t.end()
})

t.test('each rejection of the logger is in the contract of an operation', t => {
  const responses = Object.values(document.paths).flatMap(methods =>
    Object.values(methods).flatMap(({ responses }) => Object.values(responses)),
  )
  // The server returns these for any operation, and CANCELLED reaches no client.
  const others = ['BAD_REQUEST', 'NOT_FOUND', 'METHOD_NOT_ALLOWED', 'URI_TOO_LONG', 'HEADERS_TOO_LARGE', 'INTERNAL']
  const listed = Object.entries(loggerErrors).filter(
    ([code]) => ![...others, 'NOT_IMPLEMENTED', 'CANCELLED'].includes(code),
  )
  const missing = listed.filter(([, { text }]) => !responses.some(({ description }) => description.includes(text)))
  t.strictSame(missing, [])
  t.end()
})

t.test('every read declares its subject, and has its parameters', t => {
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
  // @ts-expect-error A read without a subject cannot be declared.
  const about: LoggerOperation = { ...read, subject: undefined }
  t.ok(about)
  t.end()
})

t.test('with private reads, each read of the contract requires a credential', async t => {
  const { paths } = createOpenApi([publishOperations(publishedLogger(privateReads({} as never)))])
  const gets = Object.values(paths).flatMap(({ get }) => get ?? [])
  t.ok(gets.length >= 13)
  t.ok(gets.every(({ security = [] }) => security.length > 3))
  t.ok(Object.values(document.paths).every(({ get }) => get === undefined || get.security?.length === 0))
})
