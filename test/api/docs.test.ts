/** The published contract as a whole: valid OpenAPI, with the parts of all families. */

import { Validator } from '@seriousme/openapi-schema-validator'
import { fastify } from 'fastify'
import { parse } from 'parse5'
import t from 'tap'
import { perPageDefault, perPageMax } from '../../api/air-quality/query/paging.ts'
import { type Contract, createOpenApi } from '../../api/docs/contract.ts'
import { docsFamily } from '../../api/docs/docs.ts'
import { openBrowser } from '../support/browser.ts'
import { inspect } from '../support/browser-page.ts'
import { airQualityContract as airQuality, contracts } from '../support/published.ts'

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
  t.strictSame(
    document.tags.map(({ name }: { name: string }) => name),
    ['logger', 'air quality', 'line protocol', 'content files', 'admin', 'server'],
  )
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
    for (const [method, { operationId }] of Object.entries(methods as Record<string, { operationId: string }>)) {
      t.match(body, `<code class="method">${method.toUpperCase()}</code> <code>${path}</code>`)
      t.match(body, `<h3 id="${operationId}">`)
      t.match(body, `<a href="#${operationId}">`)
    }
  }
  t.match(body, `<code>?per_page=</code></td><td>integer, from 1, to ${perPageMax}, default ${perPageDefault}</td>`)
  t.match(body, '<p><a href="#NewDataPoints">NewDataPoints</a></p>')
  t.match(body, '<td>200</td><td>The device</td><td><a href="#AirQualityDevice">AirQualityDevice</a>')
  t.match(body, '<td><code>errors[].index</code></td>', 'a field of an object in a list')
  for (const name of Object.keys(document.components.schemas)) t.match(body, `<h3 id="${name}">`)
})

t.test('the statistics are for everybody, with an anchor for each analysis', async t => {
  const address = { headers: { host: 'weather.example' }, remoteAddress: '203.0.113.5' }
  t.match(await app.inject({ url: '/docs', ...address }), { statusCode: 401 })
  const { statusCode, body, headers } = await app.inject({ url: '/docs/statistics', ...address })
  t.equal(statusCode, 200)
  t.match(headers, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': /default-src 'none'/ })
  const anchors = ['expected-interval', 'freshness', 'reliability', 'aggregates', 'quality', 'series', 'correlations']
  for (const id of [...anchors, 'autocorrelation', 'seasonality', 'trend', 'reasons']) {
    t.match(body, `<h2 id="${id}">`)
    t.match(body, `<a href="#${id}">`)
  }
  t.match(body, '<code>n_eff</code>')
})

t.test('the pages are for a keyboard, a phone and the dark', async t => {
  const small = fastify()
  t.teardown(() => small.close())
  // Of all families it is a long page, on which axe takes minutes.
  const paths = Object.fromEntries(Object.entries(airQuality.paths).slice(-2))
  const contract = { ...airQuality, paths }
  docsFamily({ contracts: [contract], isAdmin: async () => false, isTrusted: () => false }).register(small)
  const origin = await small.listen({ port: 0, host: '127.0.0.1' })
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const path of ['/docs', '/docs/statistics']) {
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } })
    await page.goto(`${origin}${path}`)
    await inspect(t, page, path)
    await page.close()
  }
})
