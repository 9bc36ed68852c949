/**
 * The address of the page, as signals: the app's root, the path below it, and the arguments. The state of a page (a
 * search, a range, an order) is kept in the arguments, so that it can be linked to and the back button undoes it.
 */

import { computed, signal } from '@preact/signals'
import { routeOf } from './routes.ts'

/** `/`, or the prefix that a proxy adds. The build puts all scripts into `assets/` below it. */
const base = new URL(/* @vite-ignore */ '..', import.meta.url).pathname

const current = signal(new URL(location.href))
/** True once the shown page no longer follows the document's address. */
let isFixed = false

export const path = computed(() => `/${current.value.pathname.slice(base.length)}`)
/** Read only; `setArguments` changes them. */
export const urlArguments = computed(() => current.value.searchParams)

/** The result is for an `href` or a request. `path` begins with a slash and may have arguments. */
export function addressOf(path: string): string {
  return `${base}${path.slice(1)}`
}

/** The sign-in page, which returns to the current page. */
export function signInAddress(): string {
  const here = `${location.pathname}${location.search}`
  return addressOf(`/sign-in?callbackUrl=${encodeURIComponent(here)}`)
}

/** Shows another page of the app, as a new entry of the history. */
export function showPage(path: string): void {
  history.pushState(null, '', addressOf(path))
  readAddress()
  scrollTo(0, 0)
}

/** Shows a page at an address other than the document's, such as a view by its link. */
export function showFixed(address: string): void {
  isFixed = true
  current.value = new URL(addressOf(address), location.origin)
}

type ArgumentChanges = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Changes arguments of the shown page. undefined or an empty text removes one. `replace` makes no entry of the
 * history, for changes with each key press. A list is an argument for each of its texts.
 */
export function setArguments(changes: ArgumentChanges, { replace = false } = {}): void {
  const before = isFixed ? current.peek().href : location.href
  const url = new URL(before)
  for (const [name, value] of Object.entries(changes)) {
    const [first, ...others] = [value ?? []].flat().filter(text => text !== '')
    // One that is there keeps its place.
    if (first === undefined) url.searchParams.delete(name)
    else url.searchParams.set(name, first)
    for (const text of others) url.searchParams.append(name, text)
  }
  if (url.href === before) return
  if (isFixed) {
    current.value = url
    return
  }
  history[replace ? 'replaceState' : 'pushState'](null, '', url)
  readAddress()
}

/** Links to pages of the app are followed without loading a document. Call it once. */
export function followLinks(): void {
  addEventListener('popstate', readAddress)
  document.addEventListener('click', event => {
    const link = (event.target as Element).closest('a')
    if (link === null || !isPlainClick(event) || link.target !== '' || link.hasAttribute('download')) return
    const { origin, pathname, search, hash } = new URL(link.href)
    if (origin !== location.origin || hash !== '' || !pathname.startsWith(base)) return
    const target = `/${pathname.slice(base.length)}`
    if (routeOf(target) === undefined) return
    event.preventDefault()
    showPage(`${target}${search}`)
  })
}

function readAddress(): void {
  current.value = new URL(location.href)
}

function isPlainClick({ defaultPrevented, button, altKey, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean {
  return !defaultPrevented && button === 0 && !altKey && !ctrlKey && !metaKey && !shiftKey
}
