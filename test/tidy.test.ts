/** The imports allowed between folders, as a table over every static and lazy import. */

import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { type Node, parse } from 'acorn'
import { test } from 'tap'

/** Methods that read a page or an element without waiting. */
const reads = new Set([
  'allInnerTexts',
  'allTextContents',
  'boundingBox',
  'content',
  'count',
  'evaluate',
  'evaluateAll',
  'getAttribute',
  'innerHTML',
  'innerText',
  'inputValue',
  'isChecked',
  'isDisabled',
  'isEnabled',
  'isVisible',
  'textContent',
  'title',
])
/** Names of pages in tests. */
const pages = new Set(['page', 'popup', 'shown', 'other'])

/** Lines of a test file in which an argument of an assertion, as `t.equal`, awaits such a read. */
function readsAtOnce(text: string): number[] {
  const script = stripTypeScriptTypes(text, { mode: 'strip' })
  const program = parse(script, { ecmaVersion: 'latest', sourceType: 'module', locations: true })
  const all = nodesIn(program, () => true)
  const helpers = new Set(all.filter(isReadingFunction).map(nameOf))
  const awaited = all
    .filter(isAssertion)
    .flatMap(({ arguments: values }) => values.flatMap(value => nodesIn(value, isNotFunction)))
    .filter(({ type }) => type === 'AwaitExpression')
  return awaited.filter(node => isRead(node, helpers)).map(({ loc }) => loc?.start.line ?? 0)
}

type AnyNode = Node & { [name: string]: unknown }
type Call = AnyNode & { callee: AnyNode; arguments: AnyNode[] }

const isNode = (value: unknown): value is AnyNode => typeof (value as AnyNode | null)?.type === 'string'
const isNotFunction = ({ type }: AnyNode) => !/Function/.test(type)

/** The node and its descendants, except below nodes that do not pass. */
function nodesIn(node: Node, passes: (node: AnyNode) => boolean): AnyNode[] {
  const found = [node as AnyNode]
  for (const each of found) {
    if (passes(each)) found.push(...Object.values(each).flat().filter(isNode))
  }
  return found
}

function isAssertion(node: AnyNode): node is Call {
  const { object, property } = ((node as Partial<Call>).callee ?? {}) as { object?: AnyNode; property?: AnyNode }
  return node.type === 'CallExpression' && object?.['name'] === 't' && property?.['name'] !== 'test'
}

const nameOf = ({ id, name }: AnyNode) => String((id as AnyNode | undefined)?.['name'] ?? name)

/** Matches `const spoken = async () => (await place.innerText()).trim()`. */
function isReadingFunction({ type, init }: AnyNode): boolean {
  const body =
    type === 'VariableDeclarator' && isNode(init) && !isNotFunction(init) ? (init['body'] as AnyNode) : undefined
  return body !== undefined && nodesIn(body, isNotFunction).some(isReadOfPlace)
}

const isReadOfPlace = ({ type, property }: AnyNode) =>
  type === 'MemberExpression' && reads.has(String((property as AnyNode)['name']))

function isRead(node: AnyNode, helpers: ReadonlySet<string>): boolean {
  return nodesIn(node, isNotFunction).some(
    each =>
      isReadOfPlace(each) || (each.type === 'Identifier' && (pages.has(nameOf(each)) || helpers.has(nameOf(each)))),
  )
}

const root = resolve(import.meta.dirname, '..')

/** The imports allowed for each room. A file name allows that file alone. */
const arrows: Record<string, string[]> = {
  store: [],
  analytics: ['store/limits'],
  auth: ['store'],
  ingest: ['store', 'auth'],
  query: ['analytics', 'store'],
  alerts: ['analytics', 'query', 'store', 'auth'],
  // Senders and readers convert units alike. A rule or a finding has the same words on a page as in a response.
  web: [
    'store/metrics/units.ts',
    'alerts/core/condition-text.ts',
    'analytics/findings/finding-text.ts',
    'analytics/findings/value-words.ts',
    'analytics/findings/words.ts',
  ],
  api: [
    ...['analytics', 'store', 'auth', 'ingest', 'query', 'alerts', 'web/theme', 'web/words', 'web/dist', 'docs'],
    // Routes start and report the care of data.
    ...['service/settings', 'service/lifecycle', 'service/backup'],
  ],
  service: ['analytics', 'store', 'auth', 'ingest', 'query', 'alerts', 'web/theme', 'api'],
  cli: [
    ...['analytics', 'store', 'auth', 'ingest', 'query', 'alerts'],
    ...['api/admin', 'api/alerts', 'api/annotations', 'service/settings', 'service/lifecycle', 'service/backup'],
    'service/parent.ts',
  ],
}

/** Imports allowed by `import type` alone: the pages read the responses that these schemas describe. */
const typeArrows: Record<string, string[]> = {
  web: ['api', 'alerts', 'auth', 'query', 'store/metrics'],
}

/** Every family of routes may import these. Other families need a row below. */
const familyParts = ['http', 'docs', 'credentials']
const familyArrows: Record<string, string[]> = {
  // Both have one prefix.
  logger: ['read', 'write'],
  admin: ['accounts/api-keys.ts', 'write/bulk-meter.ts'],
  // They report problems and check requests like the admin API.
  alerts: ['admin'],
  annotations: ['admin'],
  'sign-in': ['accounts'],
  docs: ['accounts/kit/errors.ts'],
}

/** Imports that mark a test of a page. */
const browserParts = ['test/support/browser.ts', 'test/support/browser-page.ts', 'test/support/becomes.ts']

/** Benches, tests and start scripts may import anything. No other folder imports them. */
const leaves = ['bench', 'bin', 'script', 'test']

const importPattern = /(?:from|import|new URL)\s*\(?\s*'(\.{1,2}\/[^']+)'/g

/** Type stripping removes such a statement, but leaves the import for `import { type A }`. */
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
  return target === 'package.json' || isIn([folder, ...(arrows[folder] ?? [])], target)
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

test('imported types of the pages need zod alone, since browsers lack the types of Node', async t => {
  const types = sourceFiles('web').flatMap(typeImportsOf)
  const files = new Set(types.filter(target => !isAllowed('web', target)))
  t.ok(files.size > 0)
  // Iteration over a set includes elements added meanwhile.
  for (const file of files) for (const target of importsOf(file)) files.add(target)
  const packages = [...files].flatMap(file =>
    [...textOf(file).matchAll(packagePattern)]
      .filter(([, name]) => name !== 'zod')
      .map(([, name]) => `${file} imports ${name}`),
  )
  t.strictSame(packages, [])
})

/** Files that import themselves indirectly. */
function filesInCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  return [...imports.keys()].filter(file => {
    const reached = new Set(imports.get(file))
    // Iteration over a set includes elements added meanwhile.
    for (const target of reached) for (const next of imports.get(target) ?? []) reached.add(next)
    return reached.has(file)
  })
}

test('no import is circular, including those of types', async t => {
  const files = [...Object.keys(arrows), 'bench'].flatMap(sourceFiles)
  t.strictSame(filesInCircles(new Map(files.map(file => [file, importsOf(file)]))), [])
})

test('the checker finds a circle, and no file that only leads into one', async t => {
  const imports = { a: ['b'], b: ['c', 'e'], c: ['d'], d: ['b'], e: [], f: ['f2'], f2: ['f', 'a'] }
  t.strictSame(filesInCircles(new Map(Object.entries(imports))), ['b', 'c', 'd', 'f', 'f2'])
})

test('assertions of a page test await no immediate read', async t => {
  const files = sourceFiles('test').filter(file => importsOf(file).some(target => browserParts.includes(target)))
  t.ok(files.includes('test/web/admin-page.test.ts'))
  const places = files.flatMap(file => readsAtOnce(textOf(file)).map(line => `${file}:${line}`))
  t.strictSame(places, [], 'the page may not have come to it yet: see test/support/becomes.ts')
})

test('the checker finds immediate reads, also in functions of the test, but no waiting ones', async t => {
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

test('the patterns distinguish imports of types from others, and packages from files', async t => {
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
    ['cli/barograph.ts', 'cli/demo/demo.ts', 'service/main.ts'],
    'programs hand it to the configuration',
  )
})

test('npm start and the command start Node without flags, as the tests and the demo do', async t => {
  const { bin, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.equal(scripts.start, `PARENT_PID=$PPID exec ${bin.barograph} start`)
  t.match(readFileSync(join(root, bin.barograph), 'utf8'), '\nexec "$node" "$package/bin/launch.cjs" "$@"\n')
})

test('a family of routes imports no other family, except where the table says', async t => {
  const families = readdirSync(join(root, 'api'))
  const wrong = families
    .filter(family => !familyParts.includes(family) || family in familyArrows)
    .flatMap(family => {
      const allowed = [family, ...familyParts, ...(familyArrows[family] ?? [])].map(place => `api/${place}`)
      const others = (target: string) => target.startsWith('api/') && !isIn(allowed, target)
      return sourceFiles(`api/${family}`).flatMap(file =>
        importsOf(file)
          .filter(others)
          .map(target => `${file} imports ${target}`),
      )
    })
  t.ok(families.includes('write'))
  t.strictSame(wrong, [])
})

test('the table of rooms in the architecture names each folder once', async t => {
  const [, table = ''] = textOf('docs/architecture.md').split('\n| room | contents | may import |\n')
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(1)
  const named = rows.flatMap(row => [...(row.split('|')[1] ?? '').matchAll(/`([\w-]+)\/`/g)].map(match => match[1]))
  const folders = readdirSync(root, { withFileTypes: true }).filter(entry => entry.isDirectory())
  const own = folders.map(({ name }) => name).filter(name => !/^(\.|node_modules$|data$|dist$)/.test(name))
  t.strictSame(named.sort(), own.sort())
  t.strictSame(
    own.filter(name => !['clients', 'deploy', 'docs'].includes(name)).sort(),
    [...Object.keys(arrows), ...leaves].sort(),
  )
})

/** Words that make a sentence hard to read. */
const hardWords =
  /\b(?:tells?|told|telling|rings|heard|hears?|nobody|somebody|whoever|anew)\b|\b(?:what (?:is|was|has|have|are|were|comes|came|it|they|we)|(?:that|those) of|of which|(?<!there )(?:is|are|was) no(?! longer)|of no|as such|none of)\b/gi
/** A text with a space, in quotes or between the tags of a page. */
const sentencePattern = /'[^'\n]* [^'\n]*'|"[^"\n]* [^"\n]*"|`[^`\n]* [^`\n]*`|>[\w ,.'’-]* [\w ,.'’-]*</g
const commentPattern = /\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/ .*/g

test('comments, texts and docs have no hard words', async t => {
  const counts = { sentences: 0, comments: 0, docs: 0 }
  const hardIn = (text: string) => text.match(hardWords)?.length ?? 0
  for (const file of Object.keys(arrows).flatMap(sourceFiles)) {
    const text = textOf(file)
    for (const [comment] of text.matchAll(commentPattern)) counts.comments += hardIn(comment)
    for (const [sentence] of text.replaceAll(commentPattern, '').matchAll(sentencePattern))
      counts.sentences += hardIn(sentence.replaceAll(/\$\{[^}]*\}/g, ''))
  }
  for (const name of readdirSync(join(root, 'docs')).filter(name => name.endsWith('.md')))
    counts.docs += hardIn(textOf(join('docs', name)))
  // The sentences are SQL with the column `told`, and a fictitious title.
  const countsMax = { sentences: 6, comments: 0, docs: 0 }
  for (const [kind, max] of Object.entries(countsMax))
    t.ok(counts[kind as keyof typeof counts] <= max, `${kind}: ${counts[kind as keyof typeof counts]}`)
})
