/** Files that a browser loads for the pages, and their headers. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { createMetrics } from '../../api/http/metrics.ts'
import { createServer } from '../../api/http/server.ts'
import { serverFamily } from '../../api/http/server-family.ts'
import { webFamily } from '../../api/web/web.ts'
import { createConnections } from '../../store/limits/connections.ts'
import { buildWeb } from '../../web/build.ts'
import { recordingLog, temporaryFolder } from '../support/databases.ts'
import { readHtml } from '../support/html-document.ts'

await buildWeb()

async function openServer(folder?: string) {
  const { log } = recordingLog('error')
  const connections = createConnections({ max: 10, perAddress: 10, isTrusted: () => false, log })
  const metrics = createMetrics({ isAdmin: async () => false, isTrusted: () => false })
  const app = createServer({
    config: { TLS_CERT: undefined, TLS_KEY: undefined, TRUST_PROXY: undefined, CACHE_BYTES_MAX: 1e8 },
    connections,
    measure: () => undefined,
    log,
    families: [
      serverFamily({ readiness: () => ({ status: 'ok' }), metrics }),
      webFamily(folder === undefined ? {} : { folder }),
    ],
  })
  t.teardown(() => app.close())
  await app.ready()
  return app
}

const app = await openServer()
const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })
const page = await get('/')
const elements = readHtml(page.body)

/** Relations of links that no page waits for. */
const icons = ['icon', 'apple-touch-icon', 'manifest']

/** Scripts and styles that the document names, as addresses seen from `from`. */
function loadedBy(body: string, from: string): string[] {
  return readHtml(body)
    .filter(({ tag, attributes }) => tag === 'script' || (tag === 'link' && !icons.includes(attributes['rel'] ?? '')))
    .map(({ attributes }) => new URL(attributes['src'] ?? attributes['href'] ?? '', `http://x${from}`).pathname)
}

t.test('the document is revalidated and allows only scripts of the service', async t => {
  t.match(page.headers, {
    'cache-control': 'no-cache',
    'content-type': 'text/html; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
  })
  const { 'content-security-policy': policy, etag } = page.headers
  t.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; /)
  t.notMatch(policy, /unsafe|\*/)
  t.equal((await get('/', { 'if-none-match': `${etag}` })).statusCode, 304)
})

t.test('the document has no script, style or handler of its own', async t => {
  const inside = elements.filter(({ tag, text }) => (tag === 'script' || tag === 'style') && text.trim() !== '')
  t.strictSame(inside, [])
  const attributes = elements.flatMap(element => Object.keys(element.attributes))
  t.notOk(attributes.find(name => /^(?:style|on.*)$/.test(name)))
})

t.test('each page has the document, with the same files, however deep its address is', async t => {
  const files = loadedBy(page.body, '/')
  t.ok(files.length >= 2)
  const paths = ['/compare', '/admin/devices/porch', '/alerts/rules/new', '/device/a%2Fb', '/station/IN-1', '/compare/']
  for (const path of paths) {
    const answer = await get(`${path}?a=1`)
    t.equal(answer.statusCode, 200, path)
    t.strictSame(loadedBy(answer.body, path), files, path)
  }
})

t.test('a page is only read', async t => {
  const posted = await app.inject({ method: 'POST', url: '/compare' })
  t.match(posted, { statusCode: 405, headers: { allow: 'GET, HEAD' } })
})

t.test('an unknown address is a page in a browser, else JSON', async t => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
  const from = (url: string, body: string) => {
    const link = readHtml(body).find(({ tag, text }) => tag === 'a' && text === 'To the fleet')
    return new URL(link?.attributes['href'] ?? 'none', `http://x${url}`).pathname
  }
  for (const [path, status, title] of [
    ['/devices', 404, 'Not found'],
    ['/device/a/b?c=d', 404, 'Not found'],
    ['/device', 404, 'Not found'],
    ['/compare/a', 404, 'Not found'],
    ['/admin/1/2/3/4/5', 404, 'Not found'],
    ['/assets/none.js', 404, 'Not found'],
    ['/assets/../index.html', 404, 'Not found'],
    ['/device/%zz', 400, 'Not an address'],
    [`/device/${'a'.repeat(2000)}`, 414, 'Too long'],
    [`/${'/'.repeat(5000)}a`, 404, 'Not found'],
  ] as const) {
    const answer = await get(path, { accept: browser })
    t.equal(answer.statusCode, status, path.slice(0, 40))
    t.match(answer.headers, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': /^default-src 'none'; style-src 'sha256-/,
      'x-content-type-options': 'nosniff',
      vary: 'accept',
    })
    t.match(answer.body, `<h1>${title}</h1>`)
    t.equal(from(path, answer.body), '/', 'it leads to the fleet')
    t.ok(answer.body.length < 20_000)
    for (const accept of ['*/*', 'application/json', 'application/json, text/html', 'image/png', ',;q=']) {
      t.match(await get(path, { accept }), { statusCode: status, body: /^\{"status":"/ }, accept)
    }
  }
  t.match(await app.inject({ method: 'POST', url: '/nowhere', headers: { accept: browser } }), { body: /^\{"status":/ })
})

t.test('the icon that browsers ask for', async t => {
  const { statusCode, headers, rawPayload } = await get('/favicon.ico')
  t.equal(statusCode, 200)
  t.match(headers, { 'content-type': 'image/x-icon', 'cache-control': /max-age/, 'x-content-type-options': 'nosniff' })
  t.strictSame([...rawPayload.subarray(0, 4)], [0, 0, 1, 0], 'of its type')
})

t.test('the manifest, which installs the pages, and its icons', async t => {
  const { headers, json } = await get('/manifest.webmanifest')
  t.match(headers, { 'content-type': 'application/manifest+json', 'cache-control': /max-age/ })
  const { icons, start_url: start } = json<{ icons: { src: string; sizes: string }[]; start_url: string }>()
  t.equal(new URL(start, 'http://a/manifest.webmanifest').pathname, '/')
  t.equal(icons.length, 3)
  for (const { src, sizes } of icons) {
    const { statusCode, rawPayload } = await get(new URL(src, 'http://a/manifest.webmanifest').pathname)
    t.equal(statusCode, 200, src)
    t.equal(`${rawPayload.readUInt32BE(16)}x${rawPayload.readUInt32BE(20)}`, sizes, 'as in the header of the PNG')
  }
  for (const path of ['/', '/compare', '/device/porch', '/admin/devices']) {
    const { body } = await get(path)
    const found = body.matchAll(/<link +rel="(?:manifest|apple-touch-icon)" href="([^"]+)"/g)
    const links = Array.from(found, ([, href]) => href ?? '')
    t.equal(links.length, 2, path)
    for (const link of links) {
      t.equal((await get(new URL(link, `http://a${path}`).pathname)).statusCode, 200, `${path}: ${link}`)
    }
  }
})

t.test('files are cached for a year and sent compressed', async t => {
  for (const file of loadedBy(page.body, '/')) {
    const plain = await get(file)
    t.match(plain.headers, {
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-type': file.endsWith('.js') ? /^(?:text|application)\/javascript/ : /^text\/css/,
    })
    for (const [coding, decode] of [['gzip', gunzipSync] as const, ['br', brotliDecompressSync] as const]) {
      const coded = await get(file, { 'accept-encoding': coding })
      t.match(coded.headers, { 'content-encoding': coding, vary: /accept-encoding/i }, file)
      t.ok(coded.rawPayload.length < plain.rawPayload.length)
      t.ok(decode(coded.rawPayload).equals(plain.rawPayload), `${file}, ${coding}`)
    }
  }
})

t.test('the first load of the fleet page is at most 68 KB', async t => {
  const files = [...loadedBy(page.body, '/'), ...(await lazyFilesOf('fleet-page'))]
  const sizeOf = async (file: string) => (await get(file, { 'accept-encoding': 'gzip' })).rawPayload.length
  const sizes = await Promise.all(files.map(sizeOf))
  const bytes = sizes.reduce((sum, size) => sum + size, gzipSync(page.body).length)
  t.comment(`${bytes} bytes in ${files.length + 1} files`)
  t.ok(bytes <= 68 * 1024, `${bytes} bytes`)
})

t.test('the library of charts is loaded with charts alone', async t => {
  const folder = resolve('web/dist/assets')
  const files = readdirSync(folder).filter(name => name.endsWith('.js'))
  const textOf = (name: string) => readFileSync(join(folder, name), 'utf8')
  const importsOf = (name: string) =>
    [...textOf(name).matchAll(/(?:from|import)"\.\/([\w.-]+\.js)"/g)].map(([, found]) => found ?? '')
  function hasCharts(start: string): boolean {
    const reached = new Set(files.filter(name => name.startsWith(`${start}-`)))
    t.equal(reached.size, 1, start)
    for (const name of reached) for (const imported of importsOf(name)) reached.add(imported)
    return [...reached].some(name => textOf(name).includes('uplot'))
  }
  for (const start of ['base', 'fleet-page', 'admin-page', 'alerts-page']) t.notOk(hasCharts(start), start)
  for (const start of ['device-page', 'compare-page', 'service-charts', 'rule-editor']) t.ok(hasCharts(start), start)
})

/** The lazy files of a page, with all of their imports. */
async function lazyFilesOf(name: string): Promise<string[]> {
  const first = loadedBy(page.body, '/').filter(file => file.endsWith('.js'))
  const namesIn = async (file: string) =>
    [...(await get(file)).body.matchAll(/[\w-]+-[\w-]{8}\.(?:js|css)/g)].map(([found]) => `/assets/${found}`)
  const shown = (await Promise.all(first.map(namesIn))).flat().filter(file => file.startsWith(`/assets/${name}-`))
  t.ok(shown.length > 0, `the first scripts load ${name}`)
  const imported = await Promise.all(shown.filter(file => file.endsWith('.js')).map(namesIn))
  return [...new Set([...shown, ...imported.flat()])].filter(file => !first.includes(file))
}

t.test('without a build the pages report it while the API works', async t => {
  const bare = await openServer(join(temporaryFolder(t), 'none/'))
  t.match(await bare.inject('/'), { statusCode: 503, body: /not built: run "npm run build"/ })
  t.equal((await bare.inject('/health/live')).statusCode, 200)
})

t.test('a build of the same sources is the one that is there', async t => {
  const folder = resolve('web/dist')
  const { ino } = statSync(folder)
  await buildWeb()
  t.equal(statSync(folder).ino, ino)
})
