/** Reads the guides in `docs/`, as listed by the tables of `docs/README.md`, and renders them with GitHub's anchors. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked, type MarkedToken, marked, type Renderer, type Token, type Tokens } from 'marked'
import { escapeHtml } from '../http/html.ts'
import { rootFrom } from '../http/page-document.ts'
import type { DocsPage } from './docs-layout.ts'
import type { Section } from './search.ts'

/** The folder is beside the sources and, in a package, beside the compiled files. */
const folder = new URL('../../docs/', import.meta.url)
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
  const link = page?.tokens.find((token): token is Tokens.Link => token.type === 'link')
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

export function capitalised(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

function isMarkdown(name: string): boolean {
  return name.endsWith('.md')
}

export function guidePage(guide: Guide, guides: Guides): DocsPage {
  const hrefOf = (href: string) => resolveLink(href, guide, guides)
  const marked = new Marked({ renderer: rendererOf(hrefOf, createAnchors()) })
  const tokens = marked.lexer(guide.markdown)
  const anchors = createAnchors()
  const contents = tokens
    .filter((token): token is Tokens.Heading => token.type === 'heading')
    .map(heading => ({ id: anchors(heading), title: plainText(heading), depth: heading.depth }))
    .filter(({ depth }) => depth === 2)
  // A table wider than a phone scrolls in its own box, also by keyboard.
  const markup = marked
    .parser(tokens)
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
  return { path: guide.path, title: guide.title, contents, main: { markup } }
}

/**
 * Target of a link from the guide's page. Undefined for targets that the service does not have, such as the sources.
 */
function resolveLink(href: string, { file, path }: Guide, { byPath, files }: Guides): string | undefined {
  if (href.startsWith('#') || /^[a-z][a-z0-9+.-]*:/i.test(href)) return href
  const at = href.indexOf('#')
  const [place, anchor] = at === -1 ? [href, ''] : [href.slice(0, at), href.slice(at)]
  const target = posix.join('docs', posix.dirname(file), place)
  const page = target.replace(/(?:\/README)?\.md$/, '')
  const isKnown = target.endsWith('.md') ? byPath.has(page) : files.has(target)
  return isKnown ? `${rootFrom(`/${path}`)}${page}${anchor}` : undefined
}

function rendererOf(
  hrefOf: (href: string) => string | undefined,
  anchors: Anchors,
): Partial<Pick<Renderer, 'heading' | 'link' | 'image' | 'code'>> & ThisType<Renderer> {
  return {
    heading(heading) {
      const text = this.parser.parseInline(heading.tokens)
      return `<h${heading.depth} id="${escapeHtml(anchors(heading))}">${text}</h${heading.depth}>\n`
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      const address = hrefOf(href)
      return address === undefined ? text : `<a href="${escapeHtml(address)}">${text}</a>`
    },
    image({ href, text }) {
      return `<img src="${escapeHtml(hrefOf(href) ?? href)}" alt="${escapeHtml(text)}" loading="lazy">`
    },
    code({ text }) {
      return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`
    },
  }
}

/** Splits a guide into searchable sections, one a heading. */
export function guideSections({ path, title, markdown }: Guide): Section[] {
  const sections: Section[] = []
  const anchors = createAnchors()
  for (const token of marked.lexer(markdown)) {
    const last = sections.at(-1)
    if (token.type === 'heading') {
      const anchor = anchors(token as Tokens.Heading)
      const address = token['depth'] === 1 ? path : `${path}#${anchor}`
      sections.push({ address, title: plainText(token), page: title, text: '', isOfApi: false })
    } else if (last !== undefined && token.type !== 'html') {
      last.text += `${plainText(token).replaceAll(/\s+/g, ' ')} `
    }
  }
  return sections
}

/** Called once for each heading of a document, in order. */
type Anchors = (heading: Tokens.Heading) => string

/** Makes anchors as GitHub does: `Expected interval` is `expected-interval`, then `expected-interval-1`. */
function createAnchors(): Anchors {
  const counts = new Map<string, number>()
  return heading => {
    const name = plainText(heading)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return count === 0 ? name : `${name}-${count}`
  }
}

function plainText(token: Token): string {
  const known = token as MarkedToken
  if (known.type === 'table') return [known.header, ...known.rows].map(row => row.map(textOf).join(' ')).join('\n')
  if (known.type === 'list') return known.items.map(textOf).join('\n')
  if (known.type === 'br' || known.type === 'space') return ' '
  if ('tokens' in known && known.tokens !== undefined) return textOf(known)
  return 'text' in known ? known.text : ''
}

function textOf({ tokens = [] }: { tokens?: Token[] }): string {
  return tokens.map(plainText).join('')
}
