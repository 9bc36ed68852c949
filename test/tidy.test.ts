/** The arrows between the folders, held as a table over every import, static and lazy. */

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'tap'
import { readsAtOnce } from './support/awaited-reads.ts'

const root = resolve(import.meta.dirname, '..')

/** Any folder may import it. */
const forAll = 'limits'

/** Which folder may import from which; a file name stands for that file alone. */
const postgresLeaves = [
  'store/log.ts',
  'store/postgres/postgres-errors.ts',
  'store/postgres/transaction.ts',
  'store/postgres/held-lock',
]
const threadLeaves = ['store/thread-limits.ts', 'store/thread-priority.ts']
const questdbLeaves = [
  'store/log.ts',
  'store/tables.ts',
  'store/counter-sql.ts',
  ...threadLeaves,
  'store/questdb/client',
]

/** What a family of routes may use besides the domains. */
const doorParts = ['api/http', 'api/docs', 'api/credentials']
/** What takes readings in has in common, of whichever protocol. */
const intakeParts = ['intake', 'reading-meter', 'rejection-source', 'refusal-text', 'fair-share'].map(
  name => `api/write/${name}.ts`,
)
const connectionParts = ['networks', 'certificate', 'connections', 'auth-rate-limit', 'metric-kinds', 'json-body'].map(
  name => `api/http/${name}.ts`,
)
const domains = [
  'metrics',
  'store',
  'settings',
  'ingest',
  'analytics',
  'query',
  'live',
  'auth',
  'content',
  'lifecycle',
  'backup',
  'alerts',
  'annotations',
]

const arrows: Record<string, string[]> = {
  [forAll]: [],
  store: [],
  // The types of values that a setting may have are those of the part that it is for.
  settings: [
    'store/start-error.ts',
    'store/tables.ts',
    'ingest/formats/line-protocol-names.ts',
    'metrics/stated-units.ts',
    'auth/accounts/email-address.ts',
    'auth/accounts/sign-up.ts',
    'auth/time-zone.ts',
  ],
  // Definitions alone: of what a registry has, callers tell it.
  ingest: [...questdbLeaves, ...postgresLeaves, 'metrics', 'store/start-error.ts', 'store/version.ts'],
  // Definitions alone: texts of people are checked as they are everywhere.
  metrics: ['auth/plain-text.ts'],
  analytics: [],
  query: ['analytics', ...questdbLeaves],
  live: ['analytics', 'query', ...questdbLeaves],
  auth: ['metrics', ...postgresLeaves, ...threadLeaves],
  content: [...postgresLeaves, ...threadLeaves],
  backup: ['store', 'ingest'],
  lifecycle: ['store', 'ingest', 'auth', 'settings'],
  // Accounts, keys and sessions are none of its business: of devices and owners it is told.
  alerts: [
    'analytics',
    'live',
    'metrics',
    'store/tables.ts',
    ...postgresLeaves,
    ...threadLeaves,
    'auth/secret-box.ts',
    'auth/plain-text.ts',
    'auth/outcome.ts',
    'auth/devices/selector.ts',
    'auth/devices/tag.ts',
    'auth/nodes/change-feed.ts',
    'auth/accounts/email-address.ts',
    'auth/mail/mail-html.ts',
  ],
  // Of accounts, no more than what somebody may do.
  annotations: [
    ...postgresLeaves,
    'auth/plain-text.ts',
    'auth/audit.ts',
    'auth/policy.ts',
    'auth/devices/device-scope.ts',
  ],
  theme: [],
  // What makes a value of one unit a value of another one is the same for senders and for readers, and so is what a rule says; a
  // finding is the same sentence in an answer and on a page.
  web: ['theme', 'metrics/units.ts', 'alerts/core/condition-text.ts', 'analytics/findings/finding-text.ts'],
  'api/http': ['settings/config.ts', 'store/log.ts', 'store/start-error.ts', 'theme'],
  'api/credentials': ['auth'],
  'api/docs': ['api/http', 'api/accounts/kit/errors.ts', 'docs'],
  // Families of routes: none imports another one, but for what is named here.
  'api/logger': [...doorParts, ...domains, 'api/read', 'api/write'],
  'api/read': [...doorParts, ...domains],
  'api/write': [...doorParts, ...domains],
  'api/accounts': [...doorParts, ...domains],
  'api/admin': [...doorParts, ...domains, 'api/accounts/api-keys.ts', 'api/write/bulk-meter.ts'],
  'api/air-quality': [...doorParts, ...domains],
  // It tells problems, and looks at requests, as the admin API does.
  'api/alerts': [
    ...doorParts,
    ...domains,
    ...[
      'operation',
      'record-operations',
      'problem',
      'problem-family',
      'guard',
      'errors',
      'failures',
      'record-id',
      'query-fields',
    ].map(name => `api/admin/${name}.ts`),
  ],
  'api/annotations': [
    ...doorParts,
    ...domains,
    ...['operation', 'record-operations', 'problem', 'problem-family', 'guard', 'record-id', 'query-fields'].map(
      name => `api/admin/${name}.ts`,
    ),
  ],
  'api/content-files': [...doorParts, ...domains],
  // A protocol of its own: it shares with the routes how a reading is taken in, and the limits of connections.
  mqtt: ['ingest', 'auth', 'settings', 'store/log.ts', ...intakeParts, ...connectionParts],
  // Pages of a browser, with the schemas, the errors and the limits of the operations that do the same.
  'sign-in': ['auth', 'metrics/units.ts', 'store', 'theme', 'api/http', 'api/credentials', 'api/accounts'],
  // What was built of the pages.
  'api/web': ['api/http', 'theme', 'web/dist'],
  service: ['api', 'mqtt', 'sign-in', ...domains],
  cli: ['api/admin', 'api/alerts', 'api/annotations', ...domains],
  // The cell of a device discharges by the curve of its type.
  demo: [
    'analytics/battery/curves.ts',
    'api/admin',
    'api/alerts',
    'auth',
    'content',
    'cli',
    'settings',
    'service/parent.ts',
    'store',
  ],
}

/** Where a folder may import from besides, by `import type` alone: the pages read what these schemas describe. */
const typeArrows: Record<string, string[]> = {
  settings: ['ingest/kafka'],
  query: ['metrics/metric.ts'],
  alerts: ['auth/mail/mail-transport.ts', 'auth/mail/templates.ts'],
  web: ['api/admin', 'api/alerts', 'api/read', 'alerts/core', 'annotations', 'auth', 'live', 'metrics', 'query/shapes'],
}

/** What a test of a page imports. */
const browserParts = ['test/support/browser.ts', 'test/support/browser-page.ts', 'test/support/becomes.ts']

/** Benches, tests and what starts all of it may import anything, and nothing but each other imports them. */
const leaves = ['bench', 'bin', 'script', 'test']

const importPattern = /(?:from|import|new URL)\s*\(?\s*'(\.{1,2}\/[^']+)'/g

/** Such a statement leaves nothing behind; `import { type A }` would leave the import of a module. */
const typeImportPattern = /import type (?:\w+|\{[^}]*\}) from '(\.{1,2}\/[^']+)'/g
const packagePattern = /^(?:import |(?:import|export|\}) .*?from )'([^.'][^']*)'$/gm

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(?:ts|tsx|css)$/.test(name) && !name.startsWith('dist/'))
    .map(name => join(folder, name))
}

function targetsIn(file: string, text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(match => relative(root, resolve(root, dirname(file), match[1] ?? '')))
}

const textOf = (file: string) => readFileSync(join(root, file), 'utf8')
const importsOf = (file: string) => targetsIn(file, textOf(file), importPattern)
const typeImportsOf = (file: string) => targetsIn(file, textOf(file), typeImportPattern)
const valueImportsOf = (file: string) => targetsIn(file, textOf(file).replaceAll(typeImportPattern, ''), importPattern)

function isIn(places: readonly string[], target: string): boolean {
  return places.some(place => target === place || target.startsWith(`${place}/`))
}

function isAllowed(folder: string, target: string): boolean {
  return target === 'package.json' || isIn([folder, forAll, ...(arrows[folder] ?? [])], target)
}

function areTypesAllowed(folder: string, target: string): boolean {
  return isAllowed(folder, target) || isIn(typeArrows[folder] ?? [], target)
}

test('imports go only where the table says', async t => {
  for (const folder of Object.keys(arrows)) {
    const files = sourceFiles(folder)
    t.ok(files.length > 0, `${folder} has files`)
    const wrong = files.flatMap(file => {
      const values = valueImportsOf(file).filter(target => !isAllowed(folder, target))
      const types = typeImportsOf(file).filter(target => !areTypesAllowed(folder, target))
      return [...values, ...types].map(target => `${file} imports ${target}`)
    })
    t.strictSame(wrong, [], folder)
  }
})

test('what the pages import as types needs zod alone, so that no type of Node is known where browsers run', async t => {
  const types = sourceFiles('web').flatMap(typeImportsOf)
  const files = new Set(types.filter(target => !isAllowed('web', target)))
  t.ok(files.size > 0)
  // A set is walked through to what is added on the way.
  for (const file of files) for (const target of importsOf(file)) files.add(target)
  const packages = [...files].flatMap(file =>
    [...textOf(file).matchAll(packagePattern)]
      .filter(([, name]) => name !== 'zod')
      .map(([, name]) => `${file} imports ${name}`),
  )
  t.strictSame(packages, [])
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
  const places = files.flatMap(file => readsAtOnce(textOf(file)).map(line => `${file}:${line}`))
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

test('the patterns tell imports of types from others, and packages from files', async t => {
  const text = [
    "import assert from 'node:assert/strict'",
    "import type { A } from './a.ts'",
    "import type {\n  B,\n} from '../b.ts'",
    "import { type C } from './c.ts'",
    "export type D = C\nimport { e } from './e.ts'",
    "} from 'zod'",
  ].join('\n')
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(match => match[1])
  t.strictSame(found(typeImportPattern), ['./a.ts', '../b.ts'])
  t.strictSame(found(packagePattern), ['node:assert/strict', 'zod'])
})

test('only the configuration reads the environment', async t => {
  const readers = [...Object.keys(arrows)].flatMap(sourceFiles).filter(file => /process\.env/.test(textOf(file)))
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

test('the table of folders in the architecture names each folder once', async t => {
  const [, table = ''] = textOf('docs/architecture.md').split('\n| folder | contents | may import |\n')
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(1)
  const named = rows.flatMap(row => [...(row.split('|')[1] ?? '').matchAll(/`([\w-]+)\/`/g)].map(match => match[1]))
  const top = Object.keys(arrows).filter(folder => !folder.includes('/'))
  t.strictSame(named.sort(), [...top, ...leaves, 'api', 'deploy'].sort())
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
