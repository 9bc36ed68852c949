/** Renders a guide as HTML, with GitHub's anchors and links to the pages of other guides. */

import { posix } from 'node:path'
import { Marked, type Renderer, type Token, type Tokens } from 'marked'
import { escapeHtml } from '../../http/html.ts'
import { rootFrom } from '../../http/root-from.ts'
import type { DocsPage } from '../docs-layout.ts'
import { type Anchors, createAnchors } from './anchors.ts'
import type { Guide, Guides } from './guides.ts'
import { plainText } from './plain-text.ts'

export function guidePage(guide: Guide, guides: Guides): DocsPage {
  const hrefOf = (href: string) => resolveLink(href, guide, guides)
  const marked = new Marked({ renderer: rendererOf(hrefOf, createAnchors()) })
  const tokens = marked.lexer(guide.markdown)
  const anchors = createAnchors()
  const headings = tokens.filter(isHeading).map(heading => ({ ...heading, id: anchors(heading) }))
  const contents = headings
    .filter(({ depth }) => depth === 2)
    .map(({ id, tokens }) => ({ id, title: tokens.map(plainText).join('') }))
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

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading'
}
