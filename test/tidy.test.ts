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

const domains = ['store', 'ingest', 'analytics', 'query', 'auth', 'content', 'backup']

const arrows: Record<string, string[]> = {
  store: [],
  ingest: questdbLeaves,
  analytics: [],
  query: ['analytics', ...questdbLeaves],
  auth: [...postgresLeaves, ...threadLeaves],
  content: [...postgresLeaves, ...threadLeaves],
  backup: ['store', 'ingest'],
  theme: [],
  web: ['theme'],
  // Of the pages it serves what was built of them, and the page of statistics.
  api: [...domains, 'theme', 'web/dist', 'docs/statistics.md'],
  cli: ['api', ...domains],
  demo: ['api', 'auth', 'content', 'cli'],
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

test('the server kit imports no family, and none of the domains', async t => {
  const allowed = ['api/http/', 'api/config.ts', 'store/log.ts', 'store/start-error.ts', 'theme/']
  const wrong = sourceFiles('api/http').flatMap(file =>
    importsOf(file)
      .filter(target => !allowed.some(place => target.startsWith(place)))
      .map(target => `${file} imports ${target}`),
  )
  t.strictSame(wrong, [])
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
    ['api/main.ts', 'cli/barograph.ts', 'demo/demo.ts'],
    'programs hand it to the configuration',
  )
})

test('npm start and the command start Node without flags, as the tests and the demo do', async t => {
  const { bin, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.equal(scripts.start, `PARENT_PID=$PPID exec ${bin.barograph} start`)
  t.match(readFileSync(join(root, bin.barograph), 'utf8'), '\nexec "$node" "$package/bin/launch.cjs" "$@"\n')
})

test('every folder with code is in the table', async t => {
  const folders = readdirSync(root, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !/^(\.|node_modules$|data$|deploy$|dist$|docs$)/.test(entry.name))
    .map(entry => entry.name)
  t.strictSame(folders.sort(), [...Object.keys(arrows), ...leaves].sort())
})
