/** The published contract as a whole: valid OpenAPI, with the parts of all families. */

import { Validator } from '@seriousme/openapi-schema-validator'
import { fastify } from 'fastify'
import { parse } from 'parse5'
import t from 'tap'
import { accountsContract } from '../../api/accounts/kit/contract.ts'
import { airQualityFamily } from '../../api/air-quality/air-quality.ts'
import { type Contract, createOpenApi } from '../../api/docs/contract.ts'
import { docsFamily } from '../../api/docs/docs.ts'
import { publishedOperations } from '../../api/open-accounts.ts'

// Nothing of them is called, so they need no parts.
const accounts = accountsContract(publishedOperations({ settings: {}, drive: { name: 'google-drive' } } as never))
const { contract: airQuality } = airQualityFamily({ publicUrl: undefined } as never)
const contracts = [accounts, airQuality]
const app = fastify()
docsFamily({ contracts, isAdmin: async () => false, isTrusted: () => false }).register(app)
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

t.test('it has the parts of all families', async t => {
  for (const { paths } of contracts) {
    for (const path of Object.keys(paths)) t.ok(path in document.paths, path)
  }
  t.match(document.tags, [{ name: 'air quality' }])
  t.match(document.components.securitySchemes, { basicKey: { type: 'http', scheme: 'basic' } })
})

t.test('two different things of one name are a mistake, the same twice is none', async t => {
  const one: Contract = { paths: {}, schemas: { Device: { type: 'object' } }, securitySchemes: {} }
  t.throws(() => createOpenApi([one, { ...one, schemas: { Device: { type: 'string' } } }]), /Device/)
  t.strictSame(createOpenApi([one, one]).components.schemas, one.schemas)
})

t.test('a person reads of every operation, argument and schema', async t => {
  const { statusCode, body } = await app.inject({ url: '/docs', headers })
  t.equal(statusCode, 200)
  const errors: unknown[] = []
  parse(body, { onParseError: error => errors.push(error) })
  t.strictSame(errors, [])
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods as object)) t.match(body, `${method.toUpperCase()} ${path}</code>`)
  }
  t.match(body, '<p>query: <code>per_page</code> (integer): Rows of a page')
  t.match(body, 'Body: <a href="#NewDataPoints">NewDataPoints</a>')
  t.match(body, '<dt>200</dt><dd>The device: <a href="#AirQualityDevice">AirQualityDevice</a></dd>')
  for (const name of Object.keys(document.components.schemas)) t.match(body, `<h2 id="${name}">`)
})
