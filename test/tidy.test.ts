/** The arrows between the folders, held as a table over every import, static and lazy. */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'tap'
import { readsAtOnce } from './support/awaited-reads.ts'

const root = resolve(import.meta.dirname, '..')

/** Which folder may import from which; a file name stands for that file alone. */
const postgresLeaves = ['store/log.ts', 'store/postgres/postgres-errors.ts', 'store/postgres/transaction.ts']
const threadLeaves = ['store/thread-limits.ts', 'store/thread-priority.ts']
const questdbLeaves = ['store/log.ts', 'store/tables.ts', ...threadLeaves, 'store/questdb/client']

/** What a family of routes may use besides the domains. */
const doorParts = ['api/http', 'api/docs', 'api/credentials']
const domains = [
  ...['store', 'settings', 'ingest', 'analytics', 'query', 'live', 'auth', 'content', 'lifecycle', 'backup'],
]

const arrows: Record<string, string[]> = {
  store: [],
  // The types of values that a setting may have are those of the part that it is for.
  settings: [
    ...['store/start-error.ts', 'store/tables.ts', 'ingest/formats/line-protocol-names.ts'],
    ...['auth/accounts/email-address.ts', 'auth/accounts/sign-up.ts'],
  ],
  ingest: [...questdbLeaves, ...postgresLeaves],
  analytics: [],
  query: ['analytics', ...questdbLeaves],
  live: ['analytics', 'query', ...questdbLeaves],
  auth: [...postgresLeaves, ...threadLeaves],
  content: [...postgresLeaves, ...threadLeaves],
  backup: ['store', 'ingest'],
  lifecycle: ['store', 'ingest', 'auth', 'settings'],
  theme: [],
  web: ['theme'],
  'api/http': ['settings/config.ts', 'store/log.ts', 'store/start-error.ts', 'theme'],
  'api/credentials': ['auth'],
  'api/docs': ['api/http', 'api/accounts/kit/errors.ts', 'docs/statistics.md'],
  // Families of routes: none imports another one, but for what is named here.
  'api/logger': [...doorParts, ...domains, 'api/read', 'api/write'],
  'api/read': [...doorParts, ...domains],
  'api/write': [...doorParts, ...domains],
  'api/accounts': [...doorParts, ...domains],
  'api/admin': [...doorParts, ...domains, 'api/accounts/api-keys.ts', 'api/write/bulk-meter.ts'],
  'api/air-quality': [...doorParts, ...domains],
  'api/content-files': [...doorParts, ...domains],
  // What was built of the pages.
  'api/web': ['api/http', 'theme', 'web/dist'],
  service: ['api', ...domains],
  cli: ['api/admin', ...domains],
  demo: ['api/admin', 'auth', 'content', 'cli', 'settings', 'service/parent.ts'],
}

/** What a test of a page imports. */
const browserParts = ['test/support/browser.ts', 'test/support/browser-page.ts', 'test/support/becomes.ts']

/** Benches, tests and what starts all of it may import anything, and nothing but each other imports them. */
const leaves = ['bench', 'bin', 'script', 'test']

const importPattern = /(?:from|import|new URL)\s*\(?\s*'(\.{1,2}\/[^']+)'/g

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(?:ts|tsx|css)$/.test(name) && !name.startsWith('dist/'))
    .map(name => join(folder, name))
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(importPattern)].map(match => relative(root, resolve(root, dirname(file), match[1] ?? '')))
}

function isAllowed(folder: string, target: string): boolean {
  const allowed = [folder, ...(arrows[folder] ?? [])]
  if (target === 'package.json') return true
  return allowed.some(place => target === place || target.startsWith(`${place}/`))
}

test('imports go only where the table says', async t => {
  for (const folder of Object.keys(arrows)) {
    const files = sourceFiles(folder)
    t.ok(files.length > 0, `${folder} has files`)
    const wrong = files.flatMap(file =>
      importsOf(file)
        .filter(target => !isAllowed(folder, target))
        .map(target => `${file} imports ${target}`),
    )
    t.strictSame(wrong, [], folder)
  }
})

/** The files that lead back to themselves. */
function filesInCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  return [...imports.keys()].filter(file => {
    const reached = new Set(imports.get(file))
    // A set is walked through to what is added on the way.
    for (const target of reached) for (const next of imports.get(target) ?? []) reached.add(next)
    return reached.has(file)
  })
}

test('no import circles, those of types included', async t => {
  const files = [...Object.keys(arrows), 'bench', 'demo'].flatMap(sourceFiles)
  t.strictSame(filesInCircles(new Map(files.map(file => [file, importsOf(file)]))), [])
})

test('the checker finds a circle, and no file that only leads into one', async t => {
  const imports = { a: ['b'], b: ['c', 'e'], c: ['d'], d: ['b'], e: [], f: ['f2'], f2: ['f', 'a'] }
  t.strictSame(filesInCircles(new Map(Object.entries(imports))), ['b', 'c', 'd', 'f', 'f2'])
})

test('a test of a page asserts nothing that it reads at once', async t => {
  const files = sourceFiles('test').filter(file => importsOf(file).some(target => browserParts.includes(target)))
  t.ok(files.includes('test/web/admin-page.test.ts'))
  const places = files.flatMap(file =>
    readsAtOnce(readFileSync(join(root, file), 'utf8')).map(line => `${file}:${line}`),
  )
  t.strictSame(places, [], 'the page may not have come to it yet: see test/support/becomes.ts')
})

test('the checker finds reads at once, also by functions of the test, and none that are waited for', async t => {
  const found = readsAtOnce(`
    const texts = (page: Page) => page.locator('p').allInnerTexts()
    t.equal(await page.locator('p').count(), 0)
    t.match((await texts(page)).join(), /a/)
    t.ok(await isGone(page))
    t.equal((await service.put('a', 'b', {})).status, 200)
    await becomes(t, () => page.locator('p').count(), 0)
    t.test('a', async t => t.equal(await page.title(), 'b'))`)
  t.strictSame(new Set(found), new Set([3, 4, 5, 8]))
})

test('the pattern finds static, lazy and worker imports, and those of styles', async t => {
  const text =
    "import a from './a.ts'\nexport { b } from '../b.ts'\nawait import('./c.ts')\nnew URL('./d.ts', x)\nimport './e.css'"
  t.strictSame(
    [...text.matchAll(importPattern)].map(match => match[1]),
    ['./a.ts', '../b.ts', './c.ts', './d.ts', './e.css'],
  )
})

test('only the configuration reads the environment', async t => {
  const readers = [...Object.keys(arrows)]
    .flatMap(sourceFiles)
    .filter(file => /process\.env/.test(readFileSync(join(root, file), 'utf8')))
  t.strictSame(
    readers.sort(),
    ['cli/barograph.ts', 'demo/demo.ts', 'service/main.ts'],
    'programs hand it to the configuration',
  )
})

test('npm start and the command start Node without flags, as the tests and the demo do', async t => {
  const { bin, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.equal(scripts.start, `PARENT_PID=$PPID exec ${bin.barograph} start`)
  t.match(readFileSync(join(root, bin.barograph), 'utf8'), '\nexec "$node" "$package/bin/launch.cjs" "$@"\n')
})

test('every folder with code is in the table, and every room of the API', async t => {
  const foldersIn = (place: string) =>
    readdirSync(join(root, place), { withFileTypes: true }).filter(entry => entry.isDirectory())
  const folders = foldersIn('.')
    .map(({ name }) => name)
    .filter(name => !/^(\.|api$|node_modules$|data$|deploy$|dist$|docs$)/.test(name))
  const rooms = foldersIn('api').map(({ name }) => `api/${name}`)
  t.strictSame([...folders, ...rooms].sort(), [...Object.keys(arrows), ...leaves].sort())
  t.strictSame(readdirSync(join(root, 'api')).length, rooms.length, 'no file lies beside them')
})
