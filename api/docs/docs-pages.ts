/** Finds documentation pages by address. A page is rendered at its first request. */

import { type Html, html } from '../http/html.ts'
import { rootFrom } from '../http/page-document.ts'
import type { OpenApiDocument } from './contract.ts'
import { type DocsPage, homePath, type PlaceGroup } from './docs-layout.ts'
import { type GuideGroup, guidePage, guideSections, readGuides } from './guides.ts'
import {
  familiesOf,
  familyPage,
  operationPage,
  operationSections,
  referencePage,
  referencePath,
  referenceTitle,
} from './reference.ts'
import { createDocsSearch, type DocsSearch } from './search.ts'

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

  let search: Promise<DocsSearch> | undefined
  /** Indexes one guide a turn of the event loop, so that other requests are not delayed. */
  async function createSearch(): Promise<DocsSearch> {
    const created = createDocsSearch()
    for (const guide of guides.byPath.values()) {
      created.add(guideSections(guide))
      await new Promise(resolve => setImmediate(resolve))
    }
    created.add(families.flatMap(operationSections))
    return created
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
      search ??= createSearch()
      return (await search).page(query, mayReadApi)
    },
    groups(path, mayReadApi) {
      if (!mayReadApi) return forAll
      return isOfApi(path) ? [apiGroup, ...guideGroups] : [...guideGroups, apiGroup]
    },
  }
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
