/** The documentation as a person reads it: every guide and every operation has a page, and every link and anchor leads somewhere. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fastify } from 'fastify'
import { defaultTreeAdapter, parse } from 'parse5'
import t from 'tap'
import { perPageDefault, perPageMax } from '../../api/air-quality/query/paging.ts'
import type { Json, PublishedOperation } from '../../api/docs/contract.ts'
import { docsFamily } from '../../api/docs/docs.ts'
import { exampleOf } from '../../api/docs/reference/example-value.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, phone } from '../support/browser-page.ts'
import { families, published } from '../support/published.ts'

const root = resolve(import.meta.dirname, '../..')
const app = fastify()
docsFamily({ families, isAdmin: async () => false, isTrusted: () => false }).register(app)
t.teardown(() => app.close())
const local = { headers: { host: 'localhost' } }
const away = { headers: { host: 'weather.example' }, remoteAddress: '203.0.113.5' }

const guideFiles = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(
  name => name.endsWith('.md') && name !== 'README.md',
)
const addressOfGuide = (file: string) => `/docs/${file.replace(/(?:\/README)?\.md$/, '')}`
const operations = Object.entries(published.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)
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

/** A page, which has to be well-formed. */
function readPage(url: string): Promise<Read> {
  const known = read.get(url) ?? readAnew(url)
  read.set(url, known)
  return known
}

async function readAnew(url: string): Promise<Read> {
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

/** Those within the documentation that lead nowhere. */
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

t.test('every guide is served to everybody, and its links and anchors lead somewhere', async t => {
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

t.test('links of the web pages into the statistics lead somewhere', async t => {
  const { ids } = await readPage('/docs/statistics')
  const files = readdirSync(join(root, 'web'), { recursive: true, encoding: 'utf8' }).filter(name =>
    /\.tsx?$/.test(name),
  )
  const anchors = files.flatMap(file =>
    [...readFileSync(join(root, 'web', file), 'utf8').matchAll(/\/docs\/statistics#([\w-]+)/g)].map(
      ([, id = '']) => id,
    ),
  )
  t.ok(anchors.length > 5)
  t.strictSame(
    anchors.filter(id => !ids.has(id)),
    [],
  )
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
  const { body } = await readPage('/docs/api/air-quality/list_data_points')
  t.match(body, `<code>?per_page=</code></td><td>integer, from 1, to ${perPageMax}, default ${perPageDefault}</td>`)
  t.match(
    (await readPage('/docs/api/air-quality/add_data_points')).body,
    '<p><a href="#NewDataPoints">NewDataPoints</a></p>',
  )
  t.match((await readPage('/docs/api/air-quality/add_data_points')).body, '<td><code>errors[].index</code></td>')
})

t.test('the body of an example is one that the schema takes, but for texts that are to be replaced', async t => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const { schemas } = published.components
  for (const { operation } of operations) {
    const schema = operation.requestBody?.content['application/json']?.schema
    if (schema === undefined) continue
    const value = exampleOf(schema, schemas, '')
    const validate = ajv.compile({ ...schema, components: { schemas } } as Json)
    validate(value)
    const faults = (validate.errors ?? []).filter(
      ({ keyword }) => !['pattern', 'minLength', 'anyOf', 'oneOf'].includes(keyword),
    )
    t.strictSame(faults, [], `${operation.operationId}: ${JSON.stringify(value)}`)
  }
})

t.test('every guide and every operation is found by its words', async t => {
  const linksOf = async (query: string, from: object = local) => {
    const { body } = await app.inject({ url: `/docs/search?q=${encodeURIComponent(query)}`, ...from })
    const results = body.slice(body.indexOf('<main'))
    return [...results.matchAll(/<li><a href="\.\.\/(docs[^"]*)">/g)].map(([, href]) => `/${href}`)
  }
  for (const { method, path, operation } of operations) {
    const url = addressOfOperation(operation)
    t.ok((await linksOf(`${method} ${path} ${operation.operationId}`)).includes(url), url)
  }
  for (const file of guideFiles) {
    const url = addressOfGuide(file)
    const title = /^# (.+)$/m.exec(readFileSync(join(root, 'docs', file), 'utf8'))?.[1] ?? ''
    const words = title.replaceAll(/[`*]/g, '')
    t.ok(
      (await linksOf(words)).some(href => href.split('#')[0] === url),
      `${url} by ${words}`,
    )
  }
  t.strictSame(await linksOf('log_reading'), ['/docs/api/logger/log_reading'])
  t.strictSame(await linksOf('log_reading', away), [], 'not for those who may not read of it')
  t.ok((await linksOf('seasonality', away)).includes('/docs/statistics#seasonality'))
})

t.test('a search tells how many sections it has found, and takes any text', async t => {
  const searched = async (query: string) => (await app.inject({ url: `/docs/search${query}`, ...local })).body
  t.match(await searched(''), 'Type words to search for.')
  t.match(await searched('?q=%20'), 'Type words to search for.')
  t.match(await searched('?q=qqqxyzzy'), 'No section has this word.')
  t.match(await searched('?q=a&q=b'), 'Type words to search for.')
  t.match(await searched('?q=the'), /\d+ sections\. The best 50; a further word finds fewer\./)
  t.match(await searched(`?q=${encodeURIComponent('<b>"&')}`), 'value="&lt;b&gt;&quot;&amp;"')
  t.match(await searched('?q=RETENTION_DAYS'), '<mark>RETENTION_DAYS</mark>')
  t.match(await searched(`?q=${'a'.repeat(5000)}`), `value="${'a'.repeat(200)}"`)
})

t.test('the reference is for this machine and for administrators, the guides are for all', async t => {
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

t.test('pictures are served, other addresses of a page lead to it, and unknown ones nowhere', async t => {
  const picture = await app.inject({ url: '/docs/images/fleet.png', ...away })
  t.match(picture, {
    statusCode: 200,
    headers: { 'content-type': 'image/png', 'content-security-policy': "default-src 'none'" },
  })
  t.strictSame(picture.rawPayload, readFileSync(join(root, 'docs/images/fleet.png')))
  const moved = async (url: string) => {
    const { statusCode, headers } = await app.inject({ url, ...away })
    return [statusCode, posix.join(posix.dirname(url), String(headers.location))]
  }
  t.strictSame(await moved('/docs/statistics.md'), [301, '/docs/statistics'])
  for (const url of [
    '/docs/nothing',
    '/docs/images',
    '/docs/..%2fpackage.json',
    '/docs/images/..%2f..%2fpackage.json',
  ]) {
    t.equal((await app.inject({ url, ...local })).statusCode, 404, url)
  }
})

t.test('a page is small on the wire', async t => {
  const bytes = async (url: string) => {
    const headers = { ...local.headers, 'accept-encoding': 'gzip' }
    const { rawPayload, headers: answered } = await app.inject({ url, headers })
    t.equal(answered['content-encoding'], 'gzip', url)
    return rawPayload.length
  }
  for (const url of ['/docs', '/docs/api', '/docs/search?q=a', ...guideFiles.map(addressOfGuide), ...familyPages]) {
    t.ok((await bytes(url)) < 70 * 1024, url)
  }
})

t.test('the pages are for a keyboard, a phone and the dark', async t => {
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const pages = ['/docs', '/docs/ingest', '/docs/api/alerts', '/docs/api/logger/log_reading', '/docs/search?q=mqtt']
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
    await inspect(t, page, 'a guide')
  })
})
