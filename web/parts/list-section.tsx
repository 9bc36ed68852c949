/** A paged list with a search, row actions and a banner for their results. */

import { type ComponentChildren, Fragment } from 'preact'
import { useId, useState } from 'preact/hooks'
import { addressOf, setArguments, urlArguments } from '../client/address.ts'
import { useRefreshed } from '../client/use-resource.ts'
import { capitalised } from '../text/phrases.ts'
import { pageTimes } from '../text/preferences.ts'
import { t } from '../words/words.ts'
import { FailureBanner, Skeleton } from './loading.tsx'
import { type Actions, useActions } from './use-actions.tsx'

interface ListPage {
  next: number | string | null
  total?: number
}

interface ListSectionProps<Page extends ListPage, Item> {
  /** The path below `/api/admin`, or below `api`. */
  path: string
  api?: string
  /** The poll interval. Without it, only changes cause another read. */
  everyMs?: number
  /** `devices`, for sentences about the list. */
  noun: string
  /** `2 devices.` */
  counted: (count: number) => string
  hasSearch?: boolean
  /** The argument that leads to the next page. */
  pageArgument?: 'page' | 'after'
  /** Arguments of the list beside the address's. */
  more?: Record<string, string>
  /** Arguments that lead to the next page beside `pageArgument`. */
  nextArguments?: (page: Page) => Record<string, string | undefined>
  /** A sentence about the whole list. */
  summary?: (page: Page) => ComponentChildren
  itemsOf: (page: Page) => readonly Item[]
  keyOf: (item: Item) => string | number
  row: (item: Item, actions: Actions) => ComponentChildren
  /** The header of a table, whose rows `row` makes. Without it, the rows are a list. */
  head?: (items: readonly Item[]) => ComponentChildren
  /** Rendered between the count and the rows. */
  bar?: (actions: Actions) => ComponentChildren
  /** Rendered above the list: forms and secrets. */
  children?: (actions: Actions) => ComponentChildren
}

export function ListSection<Page extends ListPage, Item>(props: ListSectionProps<Page, Item>) {
  const { path, api = '/api/admin', noun, hasSearch = false, pageArgument = 'page', more = {}, children } = props
  const search = hasSearch ? (urlArguments.value.get('q') ?? '') : ''
  const page = urlArguments.value.get(pageArgument) ?? ''
  const given = Object.entries({ ...more, search, [pageArgument]: page }).filter(([, text]) => text !== '')
  const url = addressOf(`${api}${path}?${new URLSearchParams(given)}`)
  const { state, refresh } = useRefreshed<Page>(url, props.everyMs === undefined ? {} : { everyMs: props.everyMs })
  const { actions, notice } = useActions(api, refresh)
  const shown = state.kind === 'ready' || state.kind === 'stale' ? state.value : undefined
  // The search field stays open while its answer loads, so that typing continues.
  const [isOpen, setOpen] = useState(false)
  if (shown !== undefined && !isOpen) setOpen(true)
  const isEmpty = shown !== undefined && search + page === '' && props.itemsOf(shown).length === 0
  return (
    <>
      <FailureBanner state={state} timeText={pageTimes().time} />
      {notice}
      {isOpen ? (
        <Tools noun={noun} {...{ search, hasSearch, isEmpty }}>
          {state.kind === 'failed' ? null : children?.(actions)}
        </Tools>
      ) : null}
      {state.kind === 'loading' ? <Skeleton name={t('The {noun} are loading', { noun })} /> : null}
      {shown === undefined ? null : <Rows {...props} {...{ shown, page, actions, isEmpty }} />}
    </>
  )
}

interface ToolsProps {
  noun: string
  search: string
  hasSearch: boolean
  isEmpty: boolean
  children: ComponentChildren
}

/** The search and the actions of a list. An empty list has its actions in its place, without a search. */
function Tools({ noun, search, hasSearch, isEmpty, children }: ToolsProps) {
  return (
    <div class={isEmpty ? 'tools card' : 'tools'}>
      {isEmpty ? (
        <p>{t('There are no {noun} here.', { noun })}</p>
      ) : hasSearch ? (
        <Search noun={noun} text={search} />
      ) : null}
      {children}
    </div>
  )
}

type RowsProps<Page extends ListPage, Item> = ListSectionProps<Page, Item> & {
  shown: Page
  page: string
  actions: Actions
  isEmpty: boolean
}

function Rows<Page extends ListPage, Item>(props: RowsProps<Page, Item>) {
  const {
    shown,
    noun,
    counted,
    summary,
    itemsOf,
    keyOf,
    row,
    head,
    bar,
    actions,
    isEmpty,
    pageArgument = 'page',
    page,
  } = props
  const items = itemsOf(shown)
  return (
    <>
      <p class="soft" role="status">
        {shown.total === undefined || isEmpty ? '' : counted(shown.total)}
        {summary?.(shown)}
        {items.length === 0 && !isEmpty ? ` ${t('There are no {noun} here.', { noun })}` : ''}
      </p>
      {bar?.(actions)}
      {head === undefined ? (
        <ul class="records">
          {items.map(item => (
            <li key={keyOf(item)}>{row(item, actions)}</li>
          ))}
        </ul>
      ) : items.length === 0 ? null : (
        <table class="sorted listing" aria-label={capitalised(noun)}>
          <thead>{head(items)}</thead>
          <tbody>
            {items.map(item => (
              <Fragment key={keyOf(item)}>{row(item, actions)}</Fragment>
            ))}
          </tbody>
        </table>
      )}
      <Pager argument={pageArgument} current={page} next={shown.next} more={props.nextArguments?.(shown)} />
    </>
  )
}

function Search({ noun, text }: { noun: string; text: string }) {
  const look = (q: string) => setArguments({ q, page: undefined, after: undefined }, { replace: true })
  return (
    <label class="search">
      <span class="unseen">{t('Search {noun}', { noun })}</span>
      <input
        type="search"
        value={text}
        maxLength={256}
        placeholder={t('Search {noun}', { noun })}
        onInput={({ currentTarget }) => look(currentTarget.value)}
      />
    </label>
  )
}

interface PagerProps {
  argument: string
  current: string
  next: number | string | null
  /** Arguments that lead to the next page as well. */
  more?: Record<string, string | undefined> | undefined
  firstText?: string
  nextText?: string
}

export function Pager(props: PagerProps) {
  const { argument, current, next, more = {}, firstText = t('First page'), nextText = t('Next page') } = props
  const first = Object.fromEntries(Object.keys(more).map(name => [name, undefined]))
  if (current === '' && next === null) return null
  return (
    <div class="actions">
      {current === '' ? null : (
        <button type="button" class="button" onClick={() => setArguments({ ...first, [argument]: undefined })}>
          {firstText}
        </button>
      )}
      {next === null ? null : (
        <button type="button" class="button" onClick={() => setArguments({ ...more, [argument]: String(next) })}>
          {nextText}
        </button>
      )}
    </div>
  )
}

export function Help({ name, children }: { name: string; children: ComponentChildren }) {
  const id = useId()
  return (
    <>
      <button type="button" class="button" popoverTarget={id} aria-label={t('Help: {name}', { name })}>
        ?
      </button>
      <div id={id} class="menu help" popover="auto">
        {children}
      </div>
    </>
  )
}
