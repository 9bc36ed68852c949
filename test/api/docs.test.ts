/** The published contract as a whole: valid OpenAPI, with the parts of all families. */

import { Validator } from '@seriousme/openapi-schema-validator'
import { fastify } from 'fastify'
import t from 'tap'
import { type Contract, createOpenApi, type PublishedOperation } from '../../api/docs/contract.ts'
import { docsFamily } from '../../api/docs/docs.ts'
import { contracts, families } from '../support/published.ts'

const app = fastify()
docsFamily({ families, isAdmin: async () => false, isTrusted: () => false }).register(app)
t.teardown(() => app.close())
const headers = { host: 'localhost' }
const document = (await app.inject({ url: '/openapi.json', headers })).json()

t.test('it is a valid OpenAPI 3.1 document', async t => {
  const validator = new Validator()
  t.match(await validator.validate(structuredClone(document)), { valid: true })
  t.equal(validator.version, '3.1')
  const broken = structuredClone(document)
  delete broken.paths['/api/v1.0/device/'].get.responses
  broken.paths['/api/v1.0/device/'].get.parameters[0].in = 'nowhere'
  t.match(await new Validator().validate(broken), { valid: false })
})

t.test('every reference leads to something, and every operation id is there once', async t => {
  const { schemas } = document.components
  const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name)
  t.strictSame(
    names.filter(name => name === undefined || !(name in schemas)),
    [],
  )
  t.ok(names.length > 100)
  const operations = Object.values(document.paths).flatMap(methods => Object.values(methods as object))
  const ids = operations.map(({ operationId }) => operationId)
  t.equal(new Set(ids).size, ids.length)
  const schemes = operations.flatMap(({ security = [] }) => security.flatMap((one: object) => Object.keys(one)))
  t.strictSame(new Set(schemes), new Set(Object.keys(document.components.securitySchemes)))
})

t.test('client generators take every schema', async t => {
  const found: string[] = []
  const look = (value: unknown, place: string) => {
    if (typeof value !== 'object' || value === null) return
    for (const fault of schemaFaults(value as Record<string, unknown>)) found.push(`${place}: ${fault}`)
    for (const [name, member] of Object.entries(value)) look(member, `${place}/${name}`)
  }
  look(document.components.schemas, '')
  look(document.paths, '')
  t.strictSame(found, [])
  const bad = { items: false, prefixItems: [], anyOf: [{ anyOf: [] }], const: 3, type: 'integer', maximum: 2 ** 40 }
  t.equal(schemaFaults({ ...bad, propertyNames: {}, not: { properties: { a: { type: 'null' } } } }).length, 7)
  t.strictSame(schemaFaults({ properties: { v: {}, d: {} }, required: ['v', 'd'] }), [])
  for (const spoilt of [{ properties: { d: {}, v: {} }, required: ['v', 'd'] }, { properties: { v: {}, d: {} } }]) {
    t.equal(schemaFaults(spoilt).length, 1)
  }
  t.equal(schemaFaults({ properties: { 'a b': {}, a_b: {} } }).length, 1)
})

/** What some client generator refuses, or makes code of that does not work. */
function schemaFaults(schema: Record<string, unknown>): string[] {
  const { const: constant, type, format, anyOf, maximum, not } = schema
  return [
    // openapi-python-client: the document is refused; an array of a length says the same.
    ...(['items', 'additionalItems'].some(name => schema[name] === false) ? ['a boolean as the schema of items'] : []),
    ...('prefixItems' in schema ? ['a tuple'] : []),
    // openapi-python-client: the generated module does not load.
    ...(['number', 'boolean'].includes(typeof constant) ? [`the constant ${constant}`] : []),
    // openapi-generator: numbers of 32 bits.
    ...(type === 'integer' && Number(maximum) > 2 ** 31 && format !== 'int64' ? ['an integer without int64'] : []),
    // openapi-generator: a class for each step.
    ...(Array.isArray(anyOf) && anyOf.some(branch => 'anyOf' in branch) ? ['anyOf within anyOf'] : []),
    // Ignored by most, so the type has any member.
    ...('propertyNames' in schema ? ['propertyNames'] : []),
    // openapi-python-client: the dictionary that members are read from has this name.
    ...(isSpoiltByD(schema) ? ['a member before or beside d'] : []),
    // openapi-generator: two members of one name.
    ...(hasOneNameTwice(schema) ? ['a name in two spellings'] : []),
    // openapi-generator for Python: it ends there.
    ...(JSON.stringify(not ?? '').includes('"type":"null"') ? ['null as a type that is excluded'] : []),
  ]
}

function hasOneNameTwice({ properties }: Record<string, unknown>): boolean {
  const names = Object.keys(properties ?? {}).map(name => name.replaceAll(/[ _-]/g, '').toLowerCase())
  return new Set(names).size < names.length
}

function isSpoiltByD({ properties, required = [] }: Record<string, unknown>): boolean {
  const names = Object.keys(properties ?? {})
  return names.includes('d') && (names.at(-1) !== 'd' || (required as string[]).length < names.length)
}

t.test('every operation says all that a client needs', async t => {
  const named = document.tags.map(({ name }: { name: string }) => name)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, PublishedOperation>).map(([method, operation]) => ({
      path,
      place: `${method} ${path}`,
      operation,
    })),
  )
  for (const { path, place, operation } of operations) {
    const { operationId, summary, tags, security, responses } = operation
    t.ok(operationId !== '' && summary !== '', place)
    t.ok(tags.length === 1 && named.includes(tags[0]), `${place}: tags`)
    t.ok(Array.isArray(security), `${place}: who may`)
    const statuses = Object.keys(responses)
    t.ok(statuses.some(status => status < '400') && statuses.includes('500'), `${place}: statuses`)
    // An id of any length is one that is unknown.
    const isAnyLength = !path.includes('{') || path.startsWith('/api/v1/contentfiles/')
    t.ok(isAnyLength || statuses.includes('414'), `${place}: a path that is too long`)
  }
  t.ok(document.tags.every(({ description }: { description: string }) => description !== ''))
  t.match(document, { openapi: '3.1.0', info: { version: '0.1.0' }, servers: [{ url: '/' }] })
})

t.test('servers has the public address, where there is one', async t => {
  const public_ = fastify()
  t.teardown(() => public_.close())
  const options = { families, isAdmin: async () => false, isTrusted: () => false }
  docsFamily({ ...options, publicUrl: 'https://weather.example' }).register(public_)
  const { servers } = (await public_.inject({ url: '/openapi.json', headers })).json()
  t.strictSame(servers, [{ url: 'https://weather.example' }])
})

t.test('it has the parts of all families', async t => {
  for (const { paths } of contracts) {
    for (const path of Object.keys(paths)) t.ok(path in document.paths, path)
  }
  t.strictSame(
    document.tags.map(({ name }: { name: string }) => name),
    [
      'logger',
      'stations',
      'accounts',
      'device authorization',
      'drive',
      'tenants',
      'air quality',
      'line protocol',
      'content files',
      'admin',
      'alerts',
      'annotations',
      'server',
    ],
  )
  t.match(document.components.securitySchemes, { basicKey: { type: 'http', scheme: 'basic' } })
})

t.test('two different things of one name are a mistake, the same twice is none', async t => {
  const one: Contract = { tags: [], paths: {}, schemas: { Device: { type: 'object' } }, securitySchemes: {} }
  t.throws(() => createOpenApi([one, { ...one, schemas: { Device: { type: 'string' } } }]), /Device/)
  t.strictSame(createOpenApi([one, one]).components.schemas, one.schemas)
})
