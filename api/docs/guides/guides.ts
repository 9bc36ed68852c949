/** The guides: the Markdown files of `docs/`, by what the README's table says of them, and the pictures and files beside them. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type MarkedToken, marked, type Token, type Tokens } from 'marked'

/** Beside the sources and, in a package, beside what is made of them. */
const folder = new URL('../../../docs/', import.meta.url)
const readme = new URL('../../../README.md', import.meta.url)

export interface Guide {
  /** Below `docs/`: `clients/python.md`. */
  file: string
  /** As seen from the root of the service, without the extension; the README of a folder is at the folder: `docs/clients`. */
  path: string
  title: string
  /** What it is about; empty where the README does not say. */
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
  /** Those of the files beside them, as seen from the root: `docs/images/fleet.png`. */
  files: ReadonlySet<string>
  /** `path` is one of `files`. */
  addressOf(path: string): URL
}

/** Read once: they do not change while the service runs. */
export function readGuides(): Guides {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => relative(fileURLToPath(folder), join(parentPath, name)))
    .toSorted()
  const told = tableOfContents()
  const guides = names.filter(isMarkdown).map(file => readGuide(file, told.get(file)))
  const byPath = new Map(guides.map(guide => [guide.path, guide]))
  if (byPath.size < guides.length) throw new Error('two guides of docs/ have the same address')
  return {
    groups: groupsOf(guides, told),
    byPath,
    files: new Set(names.filter(name => !isMarkdown(name)).map(name => `docs/${name}`)),
    addressOf: path => new URL(path.slice('docs/'.length), folder),
  }
}

/** What the README says of a guide, in its order. */
interface Told {
  title: string
  subject: string
  group: string
}

/** By file, of the tables below the heading "Documentation", each of which may have a heading of its own. */
function tableOfContents(): Map<string, Told> {
  const tokens = marked.lexer(readFileSync(readme, 'utf8')) as MarkedToken[]
  const isTop = (token: MarkedToken) => token.type === 'heading' && token.depth <= 2
  const start = tokens.findIndex(token => isTop(token) && 'text' in token && token.text === 'Documentation')
  const length = tokens.slice(start + 1).findIndex(isTop)
  const told = new Map<string, Told>()
  let group = ''
  for (const token of tokens.slice(start + 1, start + 1 + length)) {
    if (token.type === 'heading') group = token.text
    if (token.type === 'table') for (const row of token.rows) addTold(told, row, group)
  }
  return told
}

function addTold(told: Map<string, Told>, [page, subject]: Tokens.TableCell[], group: string): void {
  const link = page?.tokens.find(isLink)
  if (link?.href.startsWith('docs/') !== true) return
  told.set(link.href.slice('docs/'.length), { title: capitalised(link.text), subject: subject?.text ?? '', group })
}

function readGuide(file: string, told: Told | undefined): Guide {
  const markdown = readFileSync(new URL(file, folder), 'utf8')
  const title = told?.title ?? /^# (.+)$/m.exec(markdown)?.[1] ?? file
  const path = `docs/${file.replace(/(?:\/README)?\.md$/, '')}`
  return { file, path, title, subject: told?.subject ?? '', markdown }
}

/** Those that the README lists, in its order; behind them the others, by folder. */
function groupsOf(guides: readonly Guide[], told: ReadonlyMap<string, Told>): GuideGroup[] {
  const places = [...told.keys()]
  const listed = guides
    .filter(({ file }) => told.has(file))
    .toSorted((a, b) => places.indexOf(a.file) - places.indexOf(b.file))
  const others = guides.filter(({ file }) => !told.has(file))
  const groups = [
    ...Map.groupBy(listed, ({ file }) => told.get(file)?.group ?? ''),
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
