/** Reads the guides in `docs/`, as listed by the tables of `docs/README.md`, and their files. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type MarkedToken, marked, type Token, type Tokens } from 'marked'

/** The folder is beside the sources and, in a package, beside the compiled files. */
const folder = new URL('../../../docs/', import.meta.url)
const index = 'README.md'

export interface Guide {
  /** Path below `docs/`: `clients/python.md`. */
  file: string
  /** Path from the root, without the extension. A README has the path of its folder: `docs/clients`. */
  path: string
  title: string
  /** Its subject in the index, or empty. */
  subject: string
  markdown: string
}

export interface GuideGroup {
  title: string
  guides: Guide[]
}

export interface Guides {
  groups: GuideGroup[]
  byPath: ReadonlyMap<string, Guide>
  /** Files beside the guides by path from the root: `docs/images/fleet.png`. */
  files: ReadonlySet<string>
  /** `path` is one of `files`. */
  addressOf(path: string): URL
}

/** Reads them once: they do not change while the service runs. */
export function readGuides(): Guides {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => relative(fileURLToPath(folder), join(parentPath, name)))
    .toSorted()
  const listed = tableOfContents()
  const guides = names.filter(name => isMarkdown(name) && name !== index).map(file => readGuide(file, listed.get(file)))
  const byPath = new Map(guides.map(guide => [guide.path, guide]))
  if (byPath.size < guides.length) throw new Error('two guides of docs/ have the same address')
  return {
    groups: groupsOf(guides, listed),
    byPath,
    files: new Set(names.filter(name => !isMarkdown(name)).map(name => `docs/${name}`)),
    addressOf: path => new URL(path.slice('docs/'.length), folder),
  }
}

/** An entry of the index. */
interface Listed {
  title: string
  subject: string
  group: string
}

/** Entries by file in the order of the index. The heading above a table is the group of its guides. */
function tableOfContents(): Map<string, Listed> {
  const tokens = marked.lexer(readFileSync(new URL(index, folder), 'utf8')) as MarkedToken[]
  const entries = new Map<string, Listed>()
  let group = ''
  for (const token of tokens) {
    if (token.type === 'heading') group = token.text
    if (token.type === 'table') for (const row of token.rows) addEntry(entries, row, group)
  }
  return entries
}

function addEntry(entries: Map<string, Listed>, [page, subject]: Tokens.TableCell[], group: string): void {
  const link = page?.tokens.find(isLink)
  if (link === undefined) return
  entries.set(link.href, { title: capitalised(link.text), subject: subject?.text ?? '', group })
}

function readGuide(file: string, entry: Listed | undefined): Guide {
  const markdown = readFileSync(new URL(file, folder), 'utf8')
  const title = entry?.title ?? /^# (.+)$/m.exec(markdown)?.[1] ?? file
  const path = `docs/${file.replace(/(?:\/README)?\.md$/, '')}`
  return { file, path, title, subject: entry?.subject ?? '', markdown }
}

/** Listed guides in the order of the index, then the others by folder. */
function groupsOf(guides: readonly Guide[], entries: ReadonlyMap<string, Listed>): GuideGroup[] {
  const places = [...entries.keys()]
  const listed = guides
    .filter(({ file }) => entries.has(file))
    .toSorted((a, b) => places.indexOf(a.file) - places.indexOf(b.file))
  const others = guides.filter(({ file }) => !entries.has(file))
  const groups = [
    ...Map.groupBy(listed, ({ file }) => entries.get(file)?.group ?? ''),
    ...Map.groupBy(others, ({ file }) => capitalised(file.split('/').at(-2) ?? 'Further guides')),
  ]
  return groups.map(([title, guides]) => ({ title, guides }))
}

function capitalised(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

function isMarkdown(name: string): boolean {
  return name.endsWith('.md')
}

function isLink(token: Token): token is Tokens.Link {
  return token.type === 'link'
}
