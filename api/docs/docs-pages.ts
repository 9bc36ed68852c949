/** Finds documentation pages by address. A page is rendered at its first request. */

import { marked, type Token, type Tokens } from 'marked'
import { type Html, html } from '../http/html.ts'
import { rootFrom } from '../http/root-from.ts'
import type { OpenApiDocument } from './contract.ts'
import { type DocsPage, homePath, type PlaceGroup } from './docs-layout.ts'
import { createAnchors } from './guides/anchors.ts'
import { guidePage } from './guides/guide-page.ts'
import { type Guide, type GuideGroup, readGuides } from './guides/guides.ts'
import { plainText } from './guides/plain-text.ts'
import { operationPage } from './reference/operation-page.ts'
import { type Family, familiesOf } from './reference/reference.ts'
import { familyPage, referencePage, referencePath, referenceTitle } from './reference/reference-pages.ts'
import { createSearchIndex, type SearchIndex, type Section } from './search/search-index.ts'
import { searchPage } from './search/search-page.ts'

export interface DocsPages {
  home: DocsPage
  /** `path` is, for example, `docs/statistics`. Undefined for an unknown page. */
  pageAt(path: string): DocsPage | undefined
  /** Address of a picture or another file beside the guides. */
  fileAt(path: string): URL | undefined
  /** Redirect target of an address with a final slash or the file's extension. */
  movedTo(path: string): string | undefined
  isOfApi(path: string): boolean
  /** Replaces a page of the API that the visitor may not read. */
  refused(path: string): DocsPage
  /** Operations are included only with `mayReadApi`. Results of the API come first if its pages are read. */
  search(query: string, mayReadApi: boolean): Promise<DocsPage>
  groups(path: string, mayReadApi: boolean): readonly PlaceGroup[]
}

export function createDocsPages(document: OpenApiDocument): DocsPages {
  const guides = readGuides()
  const families = familiesOf(document)
  const makers = new Map<string, () => DocsPage>([
    ...[...guides.byPath].map(([path, guide]) => [path, () => guidePage(guide, guides)] as const),
    [referencePath, () => referencePage(families, document)],
    ...families.flatMap(family => [
      [family.path, () => familyPage(family)] as const,
      ...family.operations.map(each => [each.page, () => operationPage(family, each, document)] as const),
    ]),
  ])
  const made = new Map<string, DocsPage>()

  function pageAt(path: string): DocsPage | undefined {
    const page = made.get(path) ?? makers.get(path)?.()
    if (page !== undefined) made.set(path, page)
    return page
  }

  const guideGroups = guides.groups.map(({ title, guides }) => ({ title, places: guides }))
  const reference = { path: referencePath, title: referenceTitle }
  const apiGroup = { title: referenceTitle, places: [{ ...reference, title: 'All operations' }, ...families] }
  const forAll = [...guideGroups, { title: 'API', places: [reference] }]

  const operations = families.flatMap(operationSections)
  let indexes: Promise<{ forAll: SearchIndex; forReaders: SearchIndex }> | undefined
  const makeIndexes = async () => {
    const sections = await sectionsOf([...guides.byPath.values()])
    return { forAll: createSearchIndex(sections), forReaders: createSearchIndex([...sections, ...operations]) }
  }

  return {
    home: homePage(guides.groups),
    pageAt,
    fileAt: path => (guides.files.has(path) ? guides.addressOf(path) : undefined),
    movedTo(path) {
      const page = path.replace(/(?:\/|(?:\/README)?\.md)$/, '')
      return page !== path && (page === homePath || makers.has(page)) ? page : undefined
    },
    isOfApi,
    refused: refusedPage,
    async search(query, mayReadApi) {
      indexes ??= makeIndexes()
      const index = (await indexes)[mayReadApi ? 'forReaders' : 'forAll']
      return searchPage(query, index.find(query))
    },
    groups(path, mayReadApi) {
      if (!mayReadApi) return forAll
      return isOfApi(path) ? [apiGroup, ...guideGroups] : [...guideGroups, apiGroup]
    },
  }
}

/** Reads one guide a turn, so that requests are not blocked until all are read. */
async function sectionsOf(guides: readonly Guide[]): Promise<ReturnType<typeof guideSections>> {
  const sections: ReturnType<typeof guideSections> = []
  for (const guide of guides) {
    sections.push(...guideSections(guide))
    await new Promise(resolve => setImmediate(resolve))
  }
  return sections
}

function isOfApi(path: string): boolean {
  return path === referencePath || path.startsWith(`${referencePath}/`)
}

function refusedPage(path: string): DocsPage {
  const main = html`<h1>${referenceTitle}</h1>
<p>It is for administrators: sign in as one. On the machine of the service it is for everybody.</p>
`
  return { path, title: referenceTitle, contents: [], main }
}

const root = rootFrom(`/${homePath}`)

/** `/docs`: lists the guides. */
function homePage(groups: readonly GuideGroup[]): DocsPage {
  const main = html`<h1>Documentation</h1>
${groups.map(groupSection)}
<h2 id="api">${referenceTitle}</h2>
<p><a href="${root}${referencePath}">Every operation</a> with an example, its parameters and its answers: for administrators, and on the machine of the
service for everybody. For programs: <a href="${root}openapi.json">/openapi.json</a>.</p>
`
  return { path: homePath, title: 'Documentation', contents: [], main }
}

function groupSection({ title, guides }: GuideGroup, index: number): Html {
  const items = guides.map(
    ({ path, title, subject }) =>
      html`<li><a href="${root}${path}">${title}</a>${subject === '' ? undefined : html` – ${subject}`}</li>\n`,
  )
  return html`<h2 id="group-${index}">${title}</h2>\n<ul class="places">\n${items}</ul>\n`
}

/** Splits a guide into searchable sections, one a heading. */
function guideSections({ path, title, markdown }: Guide): Section[] {
  const sections: Section[] = []
  const anchors = createAnchors()
  for (const token of marked.lexer(markdown)) {
    const last = sections.at(-1)
    if (token.type === 'heading') {
      const isTop = token['depth'] === 1
      const anchor = anchors(token as Tokens.Heading)
      sections.push({
        address: isTop ? path : `${path}#${anchor}`,
        title: plainText(token),
        page: title,
        text: '',
      })
    } else if (last !== undefined) last.text += `${textOf(token)} `
  }
  return sections
}

function textOf(token: Token): string {
  return token.type === 'html' ? '' : plainText(token)
}

function operationSections({ title: family, operations }: Family): Section[] {
  return operations.map(({ page, method, path, operation }) => {
    const { summary, description = '', parameters = [], operationId } = operation
    const parameterTexts = parameters.map(({ name, description = '' }) => `${name}: ${description}`)
    return {
      address: page,
      title: summary,
      page: family,
      text: [`${method} ${path}`, description, ...parameterTexts, operationId].join(' '),
    }
  })
}
