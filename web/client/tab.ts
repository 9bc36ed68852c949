/** The browser's tab: its title, preceded by notices for readers of another tab, and its icon, which counts firing alerts or silent devices. */

import { computed, effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

const page = signal('')
const notice = signal('')
/** The notice of firing alerts. */
const firing = signal('')

effect(() => {
  const name = page.value === '' ? 'Barograph' : `${page.value} – Barograph`
  const notices = [firing.value, notice.value].filter(text => text !== '')
  document.title = notices.length === 0 ? name : `${notices.join(', ')} – ${name}`
})

/** A page says it when it is shown, and leaves the title to the next one. */
function setTitle(name: string): void {
  page.value = name
}

/** Name of the page that is shown. */
export function shownTitle(): string {
  return page.peek()
}

/** `3 silent`, or `No connection`. An empty text ends it. */
function setTitleNotice(text: string): void {
  notice.value = text
}

/** `2 firing`, before the notice of the page; an empty text for none. */
export function setTitleOfFiring(text: string): void {
  firing.value = text
}

const countMax = 99

/** Alerts. */
export const iconFiring = signal(0)
/** Devices; undefined: nothing is known at the moment. */
const silent = signal<number | undefined>(0)

const shown = computed(() => (iconFiring.value > 0 ? iconFiring.value : silent.value))

effect(() => {
  const link = document.querySelector<HTMLLinkElement>('#icon')
  const href = `data:image/svg+xml,${encodeURIComponent(iconOf(shown.value))}`
  if (link !== null) link.href = href
})

/** The page of the fleet says it, and 0 when it is left. */
export function showSilent(count: number | undefined): void {
  silent.value = count
}

function iconOf(count: number | undefined): string {
  const color = count === undefined ? '#5f5b6e' : count === 0 ? '#4b3ba8' : '#b3261e'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${color}"/>${signOf(count)}</svg>`
}

function signOf(count: number | undefined): string {
  if (count === 0) return '<path d="M4 19c4-1 5-6 9-6s5 8 9 8 4-6 6-7" fill="none" stroke="#fff" stroke-width="2.5"/>'
  const text = count === undefined ? '?' : count > countMax ? `${countMax}+` : String(count)
  const size = text.length > 2 ? 15 : 20
  return `<text x="16" y="${16 + size * 0.36}" font-family="sans-serif" font-weight="700" font-size="${size}" text-anchor="middle" fill="#fff">${text}</text>`
}

export function useTitle(name: string): void {
  useEffect(() => setTitle(name), [name])
}

/** `3 silent`, before the name of the page; an empty text for none. One component of a page has it. */
export function useTitleNotice(notice: string): void {
  useEffect(() => {
    setTitleNotice(notice)
    return () => setTitleNotice('')
  }, [notice])
}
