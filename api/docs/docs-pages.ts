/** All pages of the documentation by their addresses. Each is made when it is asked for first. */

import { html } from '../http/html.ts'
import type { OpenApiDocument } from './contract.ts'
import { type DocsPage, homePath, type PlaceGroup } from './docs-layout.ts'
import { guidePage } from './guides/guide-page.ts'
import { type Guide, readGuides } from './guides/guides.ts'
import { homePage } from './home-page.ts'
import { operationPage } from './reference/operation-page.ts'
import { familiesOf } from './reference/reference.ts'
import { familyPage, referencePage, referencePath, referenceTitle } from './reference/reference-pages.ts'
import { createSearchIndex, type SearchIndex } from './search/search-index.ts'
import { searchPage } from './search/search-page.ts'
import { guideSections, operationSections } from './search/sections.ts'

export interface DocsPages {
  home: DocsPage
  /** `docs/statistics`; undefined: there is none. */
  pageAt(path: string): DocsPage | undefined
  /** A picture, or another file beside the guides. */
  fileAt(path: string): URL | undefined
  /** Of an address with a slash behind it, or with the extension of the file: that of the page. */
  movedTo(path: string): string | undefined
  isOfApi(path: string): boolean
  /** In place of a page of the API. */
  refused(path: string): DocsPage
  /** With the operations only for those who may read of them, as the links of `groups`, of which those of the part that is read come first. */
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

/** Guide by guide, so that no request waits until all of them are read. */
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
