/** The documentation: the published contract, valid and with the parts of all families, and its pages. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fastify } from 'fastify'
import { defaultTreeAdapter, parse } from 'parse5'
import t from 'tap'
import { perPageDefault, perPageMax } from '../../../api/air-quality/query/paging.ts'
import {
  type Content,
  type Contract,
  createOpenApi,
  type Json,
  type PublishedOperation,
} from '../../../api/docs/contract.ts'
import { docsFamily } from '../../../api/docs/docs.ts'
import { exampleOf, membersOf } from '../../../api/docs/examples.ts'
import { describeFields } from '../../../api/docs/field-meanings.ts'
import { openBrowser } from '../../support/browser.ts'
import { desk, inBrowser, inspect, phone } from '../../support/browser-page.ts'
import { contracts, families, published } from '../../support/published.ts'

const app = fastify()
docsFamily({ families, isAdmin: async () => false, isTrusted: () => false }).register(app)
t.teardown(() => app.close())
const headers = { host: 'localhost' }
const away = { headers: { host: 'weather.example' }, remoteAddress: '203.0.113.5' }
// The document is not requested: tap ends a file whose tests have all run while a further part of it awaits something.
const document = JSON.parse(JSON.stringify(describeFields(published)))

const operations = Object.entries(published.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)

t.test('the contract is a valid OpenAPI 3.1 document', async t => {
  t.strictSame((await app.inject({ url: '/openapi.json', headers })).json(), document)
  const validator = new Validator()
  t.match(await validator.validate(structuredClone(document)), { valid: true })
  t.equal(validator.version, '3.1')
})

t.test('references resolve and operation ids are unique', async t => {
  const { schemas } = document.components
  const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
    ([, name = '']) => name,
  )
  const missing = names.filter(name => !(name in schemas))
  t.strictSame(missing, [])
  t.ok(names.length > 100)
  const ids = operations.map(({ operation }) => operation.operationId)
  t.equal(new Set(ids).size, ids.length)
  const schemes = operations.flatMap(({ operation: { security = [] } }) => security.flatMap(one => Object.keys(one)))
  t.strictSame(new Set(schemes), new Set(Object.keys(document.components.securitySchemes)))
})

t.test('client generators accept every schema', async t => {
  const found: string[] = []
  const look = (value: unknown, place: string) => {
    if (typeof value !== 'object' || value === null) return
    for (const fault of schemaFaults(value as Record<string, unknown>)) found.push(`${place}: ${fault}`)
    for (const [name, member] of Object.entries(value)) look(member, `${place}/${name}`)
  }
  look(document.components.schemas, '')
  look(document.paths, '')
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    for (const fault of componentFaults(name, schema as Record<string, unknown>)) found.push(`${name}: ${fault}`)
  }
  t.strictSame(found, [])
})

/** Faults that stop a client generator, or lead to broken code. */
function schemaFaults(schema: Record<string, unknown>): string[] {
  const { const: constant, type, format, anyOf, maximum, not } = schema
  return [
    // openapi-python-client rejects the document. An array of a length is equivalent.
    ...(['items', 'additionalItems'].some(name => schema[name] === false) ? ['a boolean as the schema of items'] : []),
    ...('prefixItems' in schema ? ['a tuple'] : []),
    // openapi-python-client: the generated module does not load.
    ...(['number', 'boolean'].includes(typeof constant) ? [`the constant ${constant}`] : []),
    // openapi-generator uses numbers of 32 bits.
    ...(type === 'integer' && Number(maximum) > 2 ** 31 && format !== 'int64' ? ['an integer without int64'] : []),
    // openapi-generator creates a class for each level.
    ...(Array.isArray(anyOf) && anyOf.some(branch => 'anyOf' in branch) ? ['anyOf within anyOf'] : []),
    // Most generators ignore it, so the type has any member.
    ...('propertyNames' in schema ? ['propertyNames'] : []),
    // openapi-python-client gives this name to the dictionary of members.
    ...(isSpoiltByD(schema) ? ['a member before or beside d'] : []),
    // openapi-generator creates two members of one name.
    ...(hasOneNameTwice(schema) ? ['a name in two spellings'] : []),
    // openapi-generator for Python stops there.
    ...(JSON.stringify(not ?? '').includes('"type":"null"') ? ['null as a type that is excluded'] : []),
  ]
}

function hasOneNameTwice({ properties }: Record<string, unknown>): boolean {
  const names = Object.keys(properties ?? {}).map(name => name.replaceAll(/[ _-]/g, '').toLowerCase())
  return new Set(names).size < names.length
}

function isSpoiltByD({ properties, required = [], additionalProperties }: Record<string, unknown>): boolean {
  const names = Object.keys(properties ?? {})
  const isLast = names.at(-1) === 'd' && (required as string[]).length >= names.length
  return names.includes('d') && !(isLast && additionalProperties === false)
}

/** Faults for openapi-python-client: models of one name, and a model in a variable that has the type of a member. */
function componentFaults(name: string, schema: Record<string, unknown>): string[] {
  const own = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
  return [
    ...(variantsOf(schema).some(hasInnerObject) ? ['an object in a variant without a name'] : []),
    ...('items' in (membersOf(schema)[own] ?? {}) ? ['a list of the same name'] : []),
  ]
}

function variantsOf({ anyOf, oneOf }: Record<string, unknown>): Record<string, unknown>[] {
  const variants = anyOf ?? oneOf
  return Array.isArray(variants) ? variants : []
}

function hasInnerObject({ properties = {} }: Record<string, unknown>): boolean {
  return Object.values(properties as Record<string, object>).some(member => 'properties' in member)
}

t.test("a client generated with the guide's configuration selects the form of a body by its type", async t => {
  const guide = readFileSync(resolve(import.meta.dirname, '../../../docs/reads.md'), 'utf8')
  const advised = [...guide.matchAll(/^ {2}(\S+\/\S+): application\/octet-stream$/gm)].map(([, type]) => type)
  t.ok(advised.length > 2)
  const known = ['application/json', 'application/x-www-form-urlencoded', ...advised]
  for (const { method, path, operation } of operations) {
    const { content = {} } = (operation['requestBody'] ?? {}) as { content?: Content }
    const forms = Object.entries(content).filter(([type]) => known.includes(type))
    t.ok(forms.length > 0 || Object.keys(content).length === 0, `${method} ${path}: a form that the client sends`)
    const models = forms.filter(([, { schema }]) => '$ref' in schema)
    t.ok(forms.length < 2 || models.length === forms.length, `${method} ${path}: forms are bytes or models`)
  }
})

t.test('every operation is complete for clients', async t => {
  const named = document.tags.map(({ name }: { name: string }) => name)
  for (const { method, path, operation } of operations) {
    const place = `${method} ${path}`
    const { operationId, summary, tags, security, responses } = operation
    t.ok(operationId !== '' && summary !== '', place)
    t.ok(tags.length === 1 && named.includes(tags[0]), `${place}: tags`)
    t.ok(Array.isArray(security), `${place}: who may`)
    const statuses = Object.keys(responses)
    t.ok(statuses.some(status => status < '400') && statuses.includes('500'), `${place}: statuses`)
    // An id of any length is an unknown one.
    const isAnyLength = !path.includes('{') || path.startsWith('/api/v1/contentfiles/')
    t.ok(isAnyLength || statuses.includes('414'), `${place}: a path that is too long`)
  }
  t.ok(document.tags.every(({ description }: { description: string }) => description !== ''))
  t.match(document, { openapi: '3.1.0', info: { version: '0.1.0' }, servers: [{ url: '/' }] })
})

t.test('the contract has the parts of all families', async t => {
  for (const { paths } of contracts) {
    for (const path of Object.keys(paths)) t.ok(path in document.paths, path)
  }
  const families =
    'logger,stations,accounts,device authorization,drive,tenants,air quality,line protocol,remote writers,webhooks'
  const tags = document.tags.map(({ name }: { name: string }) => name)
  t.equal(tags.join(), `${families},content files,admin,alerts,annotations,server`)
  t.match(document.components.securitySchemes, { basicKey: { type: 'http', scheme: 'basic' } })
})

t.test('two different definitions of one name are an error, equal ones are not', async t => {
  const one: Contract = { tags: [], paths: {}, schemas: { Device: { type: 'object' } }, securitySchemes: {} }
  t.throws(() => createOpenApi([one, { ...one, schemas: { Device: { type: 'string' } } }]), /Device/)
  t.strictSame(createOpenApi([one, one]).components.schemas, one.schemas)
})

t.test("the account service has the operations of the interface, with FastAPI's ids", async t => {
  const { paths, components } = document
  const found = operations.flatMap(({ method, path }) =>
    path.startsWith('/v1/auth/') ? [`${method} ${path.slice(9)}`] : [],
  )
  const given = {
    DELETE: 'api-keys/{key_id} me me/view-links/{link_id} me/views/{view_id}',
    GET:
      'api-keys device/info google-drive/callback google-drive/start me me/preferences me/view-links me/views' +
      ' session/info shared-view users/by-email/{email} users/{user_id}',
    PATCH: 'me me/preferences me/views/{view_id}',
    POST:
      'api-keys device/approve device/deny device/poll device/start login logout me/views me/views/{view_id}/links' +
      ' oauth/callback password/change password/reset password/reset-request register tenant-exchange token' +
      ' verification/request verification/verify',
  }
  const expected = Object.entries(given).flatMap(([method, list]) => list.split(' ').map(path => `${method} ${path}`))
  t.strictSame(found.sort(), expected.sort())
  t.equal(paths['/v1/auth/register'].post.operationId, 'register_v1_auth_register_post')
  t.equal(paths['/v1/auth/users/{user_id}'].get.operationId, 'get_user_by_id_v1_auth_users__user_id__get')
  t.match(components.schemas.UserCreate, {
    required: ['email', 'password'],
    properties: { email: { type: 'string', format: 'email' }, password: { minLength: 8, maxLength: 128 } },
  })
  const json = (name: string) => ({
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  })
  t.match(paths['/v1/auth/register'].post, {
    requestBody: json('UserCreate'),
    responses: { 201: json('UserResponse'), 409: {}, 422: json('HTTPValidationError') },
  })
  t.notMatch(JSON.stringify(document), /\$defs|"\$schema"/)
})

t.test('the reference is for loopback and for administrators, the guides are public', async t => {
  const guarded = fastify()
  t.teardown(() => guarded.close())
  const isAdmin = async ({ headers: sent }: { headers: object }) => 'authorization' in sent
  docsFamily({ families, isAdmin, isTrusted: () => false, publicUrl: 'https://weather.example' }).register(guarded)
  for (const url of ['/openapi.json', '/docs/api']) {
    const asked = { url, headers, remoteAddress: '10.0.0.1' }
    t.match(await guarded.inject(asked), { statusCode: 401 })
    t.match(await guarded.inject({ ...asked, headers: { ...headers, authorization: 'x' } }), { statusCode: 200 })
  }
  const { servers } = (await guarded.inject({ url: '/openapi.json', headers })).json()
  t.strictSame(servers, [{ url: 'https://weather.example' }])
  for (const url of ['/docs/api', '/docs/api/admin', '/docs/api/logger/log_reading', '/docs/api/nothing']) {
    const { statusCode, body } = await app.inject({ url, ...away })
    t.equal(statusCode, 401, url)
    t.match(body, 'It is for administrators')
    t.notMatch(body, 'log_reading')
  }
  for (const url of ['/docs', '/docs/statistics', '/docs/search?q=log']) {
    const { statusCode, body, headers } = await app.inject({ url, ...away })
    t.equal(statusCode, 200, url)
    t.notMatch(body, 'docs/api/admin', url)
    t.match(headers, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': /default-src 'none'/ })
  }
})

const root = resolve(import.meta.dirname, '../../..')
const local = { headers: { host: 'localhost' } }

const guideFiles = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(
  name => name.endsWith('.md') && name !== 'README.md',
)
const addressOfGuide = (file: string) => `/docs/${file.replace(/(?:\/README)?\.md$/, '')}`
const addressOfOperation = ({ tags, operationId }: PublishedOperation) =>
  `/docs/api/${tags[0]?.replaceAll(' ', '-')}/${operationId}`
const familyPages = new Set(operations.map(({ operation }) => posix.dirname(addressOfOperation(operation))))

interface Read {
  status: number
  body: string
  ids: Set<string>
  links: string[]
}

const read = new Map<string, Promise<Read>>()

/** Fetches a page, which must be well-formed. */
function readPage(url: string): Promise<Read> {
  const known = read.get(url) ?? fetchPage(url)
  read.set(url, known)
  return known
}

async function fetchPage(url: string): Promise<Read> {
  const { statusCode, body, headers } = await app.inject({ url, ...local })
  const [ids, links]: [string[], string[]] = [[], []]
  if (String(headers['content-type']).startsWith('text/html')) {
    const errors: string[] = []
    walk(parse(body, { onParseError: error => errors.push(error.code) }), ids, links)
    t.strictSame(errors, [], `${url} is well-formed`)
    t.equal(new Set(ids).size, ids.length, `${url}: an id is there once`)
  }
  return { status: statusCode, body, ids: new Set(ids), links }
}

function walk(node: Parameters<typeof defaultTreeAdapter.getChildNodes>[0], ids: string[], links: string[]): void {
  for (const child of defaultTreeAdapter.getChildNodes(node)) {
    if (!defaultTreeAdapter.isElementNode(child)) continue
    for (const { name, value } of child.attrs) {
      if (name === 'id') ids.push(value)
      if (name === 'href' || name === 'src') links.push(value)
    }
    walk(child, ids, links)
  }
}

/** The broken links within the documentation. */
async function brokenLinksOf(url: string): Promise<string[]> {
  const { links } = await readPage(url)
  const targets = links.map(link => new URL(link, `http://localhost${url}`))
  const own = targets.filter(({ host, pathname }) => host === 'localhost' && /^\/docs(?:\/|$)/.test(pathname))
  const broken: string[] = []
  for (const { pathname, hash } of own) {
    const { status, ids } = await readPage(pathname)
    if (status !== 200 || (hash !== '' && !ids.has(decodeURIComponent(hash.slice(1)))))
      broken.push(`${pathname}${hash}`)
  }
  return broken
}

t.test('every guide is public, with valid links and anchors', async t => {
  t.ok(guideFiles.length > 20)
  const home = await readPage('/docs')
  for (const file of guideFiles) {
    const url = addressOfGuide(file)
    t.equal((await app.inject({ url, ...away })).statusCode, 200, url)
    t.strictSame(await brokenLinksOf(url), [], url)
    t.ok(home.links.includes(`./${url.slice(1)}`), `${url} is on /docs`)
  }
  t.strictSame(await brokenLinksOf('/docs'), [])
})

t.test('a link of a guide leads to a file of the sources, as on GitHub', async t => {
  for (const file of guideFiles) {
    const markdown = readFileSync(join(root, 'docs', file), 'utf8')
    const links = [...markdown.matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)].map(([, place = '']) => place)
    const missing = links.filter(place => !/^https?:/.test(place) && !existsSync(join(root, 'docs', file, '..', place)))
    t.strictSame(missing, [], file)
  }
})

t.test('links of the web pages into the statistics resolve', async t => {
  const { ids } = await readPage('/docs/statistics')
  const files = readdirSync(join(root, 'web'), { recursive: true, encoding: 'utf8' })
  const sources = files.filter(name => /\.tsx?$/.test(name)).map(name => readFileSync(join(root, 'web', name), 'utf8'))
  const links = [...sources.join('\n').matchAll(/\/docs\/statistics#([\w-]+)/g)]
  t.ok(links.length > 5)
  const missing = links.filter(([, id = '']) => !ids.has(id))
  t.strictSame(missing, [])
})

t.test('every operation has a page with its example, arguments and schemas', async t => {
  for (const { method, path, operation } of operations) {
    const url = addressOfOperation(operation)
    const { status, body } = await readPage(url)
    t.equal(status, 200, url)
    t.match(body, `<code class="method">${method}</code> <code>${path}</code>`)
    t.ok(body.includes('<pre tabindex="0"><code>curl '), url)
    const own = [...body.matchAll(/href="#([^"]+)"/g)].filter(([, id]) => !body.includes(`id="${id}"`))
    t.strictSame(own, [], `${url}: links within the page`)
  }
  for (const url of ['/docs/api', ...familyPages]) t.strictSame(await brokenLinksOf(url), [], url)
  const { body: log } = await readPage('/docs/api/logger/log_reading')
  t.match(log, 'Answer, status 200:</p>\n<div class="answer"><pre tabindex="0"><code>{\n  &quot;status&quot;')
  t.match((await readPage('/docs/api/logger')).body, 'has a <code>status</code> other than <code>success</code>')
  const { body } = await readPage('/docs/api/air-quality/list_data_points')
  t.match(body, `<code>?per_page=</code></td><td>integer, from 1, to ${perPageMax}, default ${perPageDefault}</td>`)
  const { body: added } = await readPage('/docs/api/air-quality/add_data_points')
  t.match(added, '<p><a href="#NewDataPoints">NewDataPoints</a></p>')
  t.match(added, '<td><code>errors[].index</code></td>')
})

t.test('the schema accepts each example, except for placeholders', async t => {
  const { schemas } = published.components
  const bodies = operations.flatMap(({ operation: { requestBody, responses } }) => {
    const answer = Object.entries(responses).find(([status]) => status < '300')?.[1]
    return [requestBody?.content, answer?.content].flatMap<Json>(content => content?.['application/json']?.schema ?? [])
  })
  // One document, whose schemas are compiled once.
  const options = { strict: false, validateFormats: false, inlineRefs: false, code: { optimize: false } }
  const ajv = new Ajv2020(options)
  ajv.addSchema({ $id: 'contract', components: { schemas }, $defs: { ...bodies } })
  for (const [place, schema] of bodies.entries()) {
    const value = exampleOf(schema, schemas, '')
    const validate = ajv.compile({ $ref: `contract#/$defs/${place}` })
    validate(value)
    // A placeholder also fails the other branches of its union.
    const isOfText = /\/(?:pattern|minLength|anyOf|oneOf)\b/
    const faults = (validate.errors ?? []).filter(({ schemaPath }) => !isOfText.test(schemaPath))
    t.strictSame(faults, [], JSON.stringify(value))
  }
})

t.test('guides and operations are found by their words', async t => {
  const linksOf = async (query: string, from: object = local) => {
    const { body } = await app.inject({ url: `/docs/search?q=${encodeURIComponent(query)}`, ...from })
    const results = body.slice(body.indexOf('<main'))
    return [...results.matchAll(/<li><a href="\.\.\/(docs[^"]*)">/g)].map(([, href]) => `/${href}`)
  }
  for (const { method, path, operation } of operations.filter((_, at) => at % 10 === 0)) {
    const url = addressOfOperation(operation)
    t.ok((await linksOf(`${method} ${path} ${operation.operationId}`)).includes(url), url)
  }
  for (const file of guideFiles) {
    const url = addressOfGuide(file)
    const title = /^# (.+)$/m.exec(readFileSync(join(root, 'docs', file), 'utf8'))?.[1] ?? ''
    const words = title.replaceAll(/[`*]/g, '')
    const found = (await linksOf(words)).map(href => href.split('#')[0])
    t.ok(found.includes(url), `${url} by ${words}`)
  }
  t.strictSame(await linksOf('log_reading'), ['/docs/api/logger/log_reading'])
  t.strictSame(await linksOf('log_reading', away), [], 'not for those who may not read about it')
  for (const [query, first] of [
    ['seasonal', '/docs/statistics#seasonality'],
    ['battery', '/docs/statistics#batteries'],
    ['backups', '/docs/backup'],
  ]) {
    t.equal((await linksOf(query as string, away))[0], first, `${query}`)
  }
  const { body } = await app.inject({ url: '/docs/search?q=a', ...local })
  t.match(body, '<mark>a</mark>')
  t.notMatch(body, /\w<mark>|<\/mark>\w/, 'no part of a word is marked')
})

t.test('a search shows the number of sections found, for any text', async t => {
  const cases: [query: string, text: string | RegExp][] = [
    ['', 'Type words to search for.'],
    ['?q=%20', 'Type words to search for.'],
    ['?q=a&q=b', 'Type words to search for.'],
    ['?q=qqqxyzzy', 'No section has this word.'],
    ['?q=the', /\d+ sections\. The best 50; another word finds fewer\./],
    [`?q=${encodeURIComponent('<b>"&')}`, 'value="&lt;b&gt;&quot;&amp;"'],
    ['?q=RETENTION_DAYS', '<mark>RETENTION_DAYS</mark>'],
    [`?q=${'a'.repeat(5000)}`, `value="${'a'.repeat(200)}"`],
  ]
  for (const [query, text] of cases) {
    t.match((await app.inject({ url: `/docs/search${query}`, ...local })).body, text, query.slice(0, 30))
  }
})

t.test('pictures are served, other addresses of a page redirect to it, and unknown ones are 404', async t => {
  const picture = await app.inject({ url: '/docs/images/fleet.png', ...away })
  const pictureHeaders = { 'content-type': 'image/png', 'content-security-policy': "default-src 'none'" }
  t.match(picture, { statusCode: 200, headers: pictureHeaders })
  t.strictSame(picture.rawPayload, readFileSync(join(root, 'docs/images/fleet.png')))
  const moved = await app.inject({ url: '/docs/statistics.md', ...away })
  t.strictSame([moved.statusCode, posix.join('/docs', String(moved.headers.location))], [301, '/docs/statistics'])
  for (const path of ['nothing', 'images', '..%2fpackage.json', 'images/..%2f..%2fpackage.json']) {
    t.equal((await app.inject({ url: `/docs/${path}`, ...local })).statusCode, 404, path)
  }
})

t.test('the pages support a keyboard, a phone and the dark scheme', async t => {
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const pages = ['/docs/ingest', '/docs/api/logger/log_reading']
  for (const path of pages) {
    await inBrowser(t, browser, phone, async page => {
      await page.goto(`${origin}${path}`)
      await inspect(t, page, `${path}, phone`)
    })
  }
  await inBrowser(t, browser, desk, async page => {
    await page.goto(`${origin}/docs`)
    await page.getByRole('searchbox').fill('idempotency key')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('link', { name: 'Idempotency keys' }).first().click()
    await page.waitForURL(`${origin}/docs/ingest#idempotency-keys`)
  })
})
